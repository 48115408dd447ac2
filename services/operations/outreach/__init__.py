"""Mail that we begin, as people see it: the day's round, what came of it by rule, and who wants none.

daily.py     asks reach_out for each inbox once a day, in its office hours
listing.py   what came of it by rule
requests.py  somebody unsubscribes, or wants such mail again
"""
