"""What compare_peers consists of."""
