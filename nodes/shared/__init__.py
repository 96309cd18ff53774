"""What several nodes use: topics, messages, parameters, endpoints, the process of a node."""
