"""What is known of a participant, facts apart: seen when, lifecycle, mood, troubles, brief, session, profile."""
