-- name: reason
SELECT reason FROM erased_suppressions WHERE workspace = %(workspace)s AND mark = %(mark)s;
