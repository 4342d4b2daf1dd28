"""How long people and programs wait for a server of ours."""
