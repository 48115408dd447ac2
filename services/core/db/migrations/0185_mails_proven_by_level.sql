-- A reply token names a thread and proves nobody: who is believed follows from the sender's level alone. `email.read` is
-- now applied like this as well, so that a rebuild gives the same.
-- depends: 0171_mails_of_a_person

UPDATE mails SET trusted = false WHERE trusted AND identity NOT IN ('verified', 'vouched');
