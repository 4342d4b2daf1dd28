"""The runtime of GNARL: environments, encoders, policies and training.

Importing it registers the shipped specs with Gymnasium:

    import gymnasium, gnarl_runtime
    env = gymnasium.make("gnarl/BellmanFord-v0", nodes=16)

or, without the import, `gymnasium.make("gnarl_runtime:gnarl/BellmanFord-v0")`. Gymnasium, Numba
and torch are loaded by the modules that use them.
"""

from gnarl_runtime.envs.registration import register_when_needed

register_when_needed()
