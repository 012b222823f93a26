"""Random conversations of every shape × random policies × every provider's rules, for as long as is asked."""
