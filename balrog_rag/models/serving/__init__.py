"""What serves models on loopback: the test server."""
