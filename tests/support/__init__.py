"""What several tests need: the stack they run on, a fault proxy, Apache Kafka."""
