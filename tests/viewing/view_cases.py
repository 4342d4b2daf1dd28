"""Specs for the tests of `gnarl-view`."""

from __future__ import annotations

# Words that would end a script, open an element or fill a hole, were they taken for anything else.
HOSTILE = """\
gnarl 1
problem hostile
  "</script><script>window.evil = 1</script><!-- <img src=x onerror='evil = 1'> & {{script}} \u2028"

graph undirected

features
  on  state  node  mask  = false  "</td><script>window.evil = 2</script>"

phase add(v)
  allow not on[v]
  update
    on[v] := true  # </script><b>

horizon n rounds
objective lit = count(x in nodes where on[x])

instances er
  train 10  er(n = 5, p = 0.5)
  valid 10  er(n = 5, p = 0.5)
  test  10  er(n = 5, p = 0.5)
"""
