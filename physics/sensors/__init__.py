"""What sensors measure, one file a sensor."""
