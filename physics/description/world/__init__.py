"""World files: ground, height fields, soft ground, obstacles and named poses."""
