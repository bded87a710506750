"""Model servers on loopback: the test server."""
