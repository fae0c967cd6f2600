"""Rules about evaluation safety."""
