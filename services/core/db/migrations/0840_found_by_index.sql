-- What every mail asks for is found by an index, however long the history.
-- depends: 0830_mentions

-- Under row security an operator that might tell of another workspace's rows (@>, &&, @@) is tried after the policy, row by
-- row, and no index serves it. This function is its owner's, to whom the policy does not apply, and keeps to the workspace itself.
CREATE FUNCTION colleagues_answers(answered text[]) RETURNS SETOF uuid LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT mail_id FROM mails
    WHERE workspace = current_setting('app.workspace', true) AND filter = 'sent_folder' AND answered_ids @> answered
$$;
COMMENT ON FUNCTION colleagues_answers IS 'Mails of the Sent folder that answer all of these Message-IDs, in the bound workspace.';

CREATE INDEX thread_summaries_by_id ON thread_summaries (summary_id);
CREATE INDEX participant_issues_by_thread ON participant_issues (thread_id) WHERE NOT resolved;
CREATE INDEX threads_by_link ON threads (linked_from) WHERE linked_from IS NOT NULL;
