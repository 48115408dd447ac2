-- name: views
SELECT name, view, inbox, priority, tag FROM saved_views
WHERE workspace = %(workspace)s AND user_id = %(user_id)s ORDER BY lower(name), name;

-- name: save_view
INSERT INTO saved_views (workspace, user_id, name, view, inbox, priority, tag)
VALUES (%(workspace)s, %(user_id)s, %(name)s, %(view)s, %(inbox)s, %(priority)s, %(tag)s)
ON CONFLICT (user_id, name) DO UPDATE SET
    view = EXCLUDED.view, inbox = EXCLUDED.inbox, priority = EXCLUDED.priority, tag = EXCLUDED.tag;

-- name: forget_view
DELETE FROM saved_views WHERE workspace = %(workspace)s AND user_id = %(user_id)s AND name = %(name)s;
