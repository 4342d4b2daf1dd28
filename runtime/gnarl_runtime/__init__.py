"""The runtime of GNARL: environments, encoders, policies and training.

Nothing is imported here: `gnarl_runtime.batch` and `gnarl_runtime.env` need NumPy only, and
torch is loaded by the modules that use it.
"""
