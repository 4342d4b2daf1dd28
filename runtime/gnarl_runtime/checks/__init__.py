"""`gnarl-check`: small graphs explored whole, larger ones tested, failures made minimal."""
