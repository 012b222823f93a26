"""Every recorded conversation and every small one, through every format: what must hold of each prompt."""
