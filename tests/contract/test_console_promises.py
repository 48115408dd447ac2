"""What people can do in the console, and which test shows it on pages or in a browser: one whose test is gone fails."""

from __future__ import annotations

import pytest

from tests.contract.test_mail_promises import ASSERTS, check_tests

HERE = "integration/test_console_"
ANSWER, TASKS, ACCESS = f"{HERE}answers.py", f"{HERE}tasks.py", f"{HERE}access.py"
INBOX, PAGES, USERS = f"{HERE}inbox.py", f"{HERE}pages.py", f"{HERE}users.py"
SIGNS = (*ASSERTS, "sees(", "until(")  # the last two wait for the page to say so
PROMISES = {  # the ability, in the words of its issue: each test that shows it, as file::function
    "inbox: views, saved views, narrowing": (
        f"{PAGES}::test_the_inbox_is_by_who_has_to_act",
        f"{INBOX}::test_ones_own_threads_are_a_view",
        f"{INBOX}::test_a_view_is_narrowed_kept_and_forgotten",
    ),
    "inbox: search in subjects, people and words": (
        f"{INBOX}::test_threads_are_found_by_what_was_said",
        f"{PAGES}::test_threads_are_found_by_subject_and_people",
    ),
    "inbox: keyset pages": (
        f"{INBOX}::test_what_needs_a_person_is_read_page_by_page",
        f"{PAGES}::test_pages_follow_each_other_by_their_sort_key",
    ),
    "inbox: bulk acts, snoozing": (
        f"{INBOX}::test_several_threads_are_resolved_at_once",
        f"{INBOX}::test_several_threads_are_snoozed_at_once_and_what_is_done_is_not",
    ),
    "keys, those that a user chose, the jump to anything": (
        f"{ACCESS}::test_a_chosen_key_does_what_the_one_before_did",
        f"{HERE}keys.py::test_what_is_no_key_or_two_acts_have_is_refused_in_words",
        f"{ACCESS}::test_every_single_key_does_what_the_list_of_keys_says",
        f"{ACCESS}::test_ctrl_k_jumps_from_any_page_by_a_few_letters",
    ),
    "thread: HTML in a frame that runs and loads nothing": (
        f"{HERE}security.py::test_the_html_of_a_mail_runs_and_loads_nothing",
    ),
    "thread: notes that ask colleagues": (
        f"{PAGES}::test_a_note_is_left_under_the_name_of_who_is_signed_in",
        f"{ACCESS}::test_an_at_in_a_note_suggests_whom_to_ask",
    ),
    "draft: approved, edited, rejected, sentence by sentence": (
        f"{HERE}browser.py::test_a_draft_is_approved_from_the_screen",
        f"{PAGES}::test_the_sentences_of_a_draft_are_what_leaves",
        f"{PAGES}::test_a_draft_is_approved_in_other_words",
        f"{PAGES}::test_a_draft_is_rejected_with_a_reason",
    ),
    "task: find why the agent answered so": (f"{TASKS}::test_why_the_agent_answered_so_is_found",),
    "why: the prompt as sent, money, latency by hop": (
        f"{HERE}why.py::test_the_prompt_is_what_the_models_server_received",
        f"{HERE}why.py::test_a_reply_says_how_long_each_hop_took",
        f"{HERE}why.py::test_money_that_is_not_known_is_not_invented",
    ),
    "person: timeline over months": (
        "integration/test_timeline.py::test_what_is_theirs_is_told_by_months",
        "integration/test_timeline.py::test_pages_follow_each_other_and_miss_nothing",
    ),
    "task: correct a wrong plan": (f"{TASKS}::test_a_wrong_plan_is_corrected",),
    "task: answer the angry customer": (f"{TASKS}::test_an_angry_customer_is_answered",),
    "task: approve ten drafts": (f"{TASKS}::test_ten_drafts_are_approved",),
    "task: find out why nothing is answered": (f"{TASKS}::test_why_nothing_is_done_is_found",),
    "answer yourself: held, taken back, files, copies, canned answers": (
        f"{ANSWER}::test_a_reply_is_held_and_can_be_taken_back",
        f"{ANSWER}::test_files_go_along_and_name_no_place",
        f"{ANSWER}::test_a_copy_goes_to_whom_the_person_typed",
        f"{ANSWER}::test_a_canned_answer_is_added_behind_what_was_written",
    ),
    "answer yourself: the agent drafts, or words better": (
        f"{HERE}suggestions.py::test_the_agent_drafts_for_a_person",
        f"{HERE}suggestions.py::test_a_persons_words_are_worded_better",
        f"{ACCESS}::test_words_typed_while_the_agent_writes_stay",
    ),
    "take over, assign, hand back": (f"{ANSWER}::test_a_person_takes_over_assigns_and_hands_back",),
    "two people on one thread": (
        f"{ACCESS}::test_two_people_in_one_thread_see_each_other_write",
        f"{ANSWER}::test_a_colleague_sees_who_is_writing",
    ),
    "mail arrives while somebody edits": (
        f"{PAGES}::test_a_mail_came_while_somebody_edited",
        f"{ANSWER}::test_what_came_meanwhile_is_shown_and_the_words_are_kept",
        f"{ACCESS}::test_what_was_typed_was_lost_when_what_is_newer_was_shown",
    ),
    "connection lost, console restarted": (
        f"{HERE}browser.py::test_a_console_that_was_restarted_is_live_again_and_costs_no_word",
    ),
    "session expired": (f"{HERE}security.py::test_a_session_ends_by_itself_and_says_what_to_do",),
    "a person removed while working": (
        f"{USERS}::test_somebody_removed_while_working_is_out_at_the_next_request",
        f"{USERS}::test_a_stream_went_on_telling_a_busy_deployment_to_somebody_who_was_out",
    ),
    "person: facts corrected, pinned, forgotten": (
        f"{PAGES}::test_a_fact_is_corrected_pinned_and_forgotten",
        f"{PAGES}::test_a_brief_that_was_written_meanwhile_is_not_overwritten",
    ),
    "person: merge, graph": (
        f"{HERE}connections.py::test_a_merge_is_previewed_made_and_undone",
        f"{HERE}connections.py::test_the_graph_is_a_picture_and_a_table_and_no_name_in_it_runs",
    ),
    "person: export, erase with a preview": (
        f"{HERE}personal_data.py::test_the_preview_counts_what_the_command_would_destroy",
        f"{HERE}personal_data.py::test_an_export_is_a_zip_of_what_is_theirs_alone",
        f"{HERE}personal_data.py::test_nothing_is_erased_until_the_address_is_typed",
    ),
    "knowledge: documents, trying a search": (
        f"{HERE}knowledge.py::test_a_document_is_added_read_and_removed",
        f"{HERE}knowledge.py::test_a_question_is_tried_as_a_customer_would_ask",
    ),
    "knowledge: what would the agent answer": (
        "integration/test_trial_answers.py::test_the_offline_model_is_tried_and_leaves_nothing",
        "integration/test_trial_answers.py::test_a_scripted_model_reads_the_question_and_notes_nothing",
        "integration/test_trial_answers.py::test_who_may_try_and_how_often",
    ),
    "quality: what customers think": (
        "integration/test_ratings.py::test_the_quality_page_shows_the_share_by_inbox_and_week",
    ),
    "quality: what colleagues think, by inbox, intent, model and week": (
        f"{HERE}thumbs.py::test_a_reply_is_judged_on_its_thread_and_counted_by_all_that_it_is_of",
    ),
    "pipeline: the flow, dead letters, events": (
        f"{HERE}pipeline.py::test_the_flow_is_drawn_at_once_and_read_when_asked",
        f"{HERE}pipeline.py::test_a_dead_letter_is_redriven_from_the_screen",
        f"{HERE}knowledge.py::test_events_are_found_by_id_correlation_thread_and_person",
    ),
    "pipeline: replay with its difference, a dead letter before it is redriven": (
        f"{HERE}replay.py::test_what_a_changed_setting_would_change_is_shown_and_nothing_is_kept",
        f"{HERE}replay.py::test_a_saved_case_is_replayed_from_its_file",
        f"{HERE}replay.py::test_a_redrive_of_a_mail_is_seen_in_the_thread_that_it_answers",
        f"{HERE}pipeline.py::test_what_a_redrive_would_do_is_shown_before_it_is_done",
    ),
    "pipeline: what if persona or rules were others": (
        f"{HERE}what_if.py::test_other_rules_give_another_draft_and_nothing_of_it_is_kept",
        f"{HERE}what_if.py::test_trials_have_a_bound_and_a_model_that_is_away_is_said",
    ),
    "settings: changed in forms, audited, in words": (
        "integration/test_settings_changes.py::test_the_form_of_a_group_shows_file_value_and_who_changed_it",
        "integration/test_settings_changes.py::test_two_forms_of_one_setting_meet",
        f"{HERE}language.py::test_a_setting_was_called_by_its_name_in_the_code",
    ),
    "settings: an inbox is tested": (
        f"{HERE}first_steps.py::test_an_inbox_is_tested_from_the_settings",
        f"{HERE}first_steps.py::test_no_finding_shows_a_password_that_a_server_repeats",
    ),
    "first run: a guide to a first answered mail": (
        f"{HERE}first_steps.py::test_the_guide_goes_by_what_the_deployment_has_and_ends_with_an_answered_mail",
        f"{HERE}first_steps.py::test_who_puts_the_guide_away_sees_it_no_more_and_others_do",
    ),
    "users: first link, invitations, second factor, tokens, the record": (
        f"{USERS}::test_the_first_link_makes_the_first_admin_and_no_second",
        f"{USERS}::test_an_invitation_is_mailed_and_joins_under_the_name_of_the_admin",
        f"{USERS}::test_a_code_counts_once",
        f"{USERS}::test_a_stolen_session_made_a_token_and_switched_the_second_factor_off",
        f"{USERS}::test_what_is_done_is_recorded_under_the_name_of_who_is_signed_in",
    ),
    "teams: members, inboxes, a queue each": (
        "integration/test_teams.py::test_a_queue_is_what_the_team_has_and_what_nobody_has_of_its_inboxes",
        "integration/test_teams.py::test_members_have_the_queue_as_a_view_and_anybody_assigns_to_the_team",
        "integration/test_teams.py::test_an_admin_makes_changes_and_removes_a_team_on_its_page",
    ),
    "single sign-on": ("integration/test_openid_browser.py::test_an_account_is_linked_and_signs_in_from_another_site",),
    "webhooks": ("integration/test_webhooks_api.py::test_an_admin_does_it_all_in_the_console",),
    "investigations": (
        f"{HERE}investigations_browser.py::test_rounds_appear_while_somebody_watches_and_what_it_proposes_is_decided",
    ),
    "assistants over the same operations": (
        "integration/test_mcp.py::test_an_assistant_reads_memory_threads_and_drafts",
    ),
    "hostile names, subjects, HTML and files run nothing": (
        f"{HERE}security.py::test_what_others_write_is_text",
        f"{HERE}security.py::test_whatever_a_file_is_called_its_header_is_one",
    ),
    "no barrier on any page, in either theme, at 320 pixels": (
        f"{ACCESS}::test_a_page_was_looked_at_by_nobody",
        f"{ACCESS}::test_axe_finds_nothing_on_any_page_in_either_theme_or_narrow",
        f"{ACCESS}::test_axe_finds_nothing_on_the_pages_before_signing_in",
    ),
    "four languages": (
        f"{HERE}language.py::test_no_page_says_a_text_of_ours_in_english",
        f"{HERE}language.py::test_an_invitation_was_in_english_alone",
    ),
    "the OpenAPI document is what is answered": (
        "integration/test_openapi_document.py::test_every_answer_is_as_the_document_says",
        "integration/test_openapi_document.py::test_every_answer_of_what_reads_is_as_the_document_says",
    ),
}


@pytest.mark.parametrize("promise", PROMISES)
def test_an_ability_of_the_console_has_its_tests(promise: str) -> None:
    """Each is there under its name, looks at something, and is not skipped."""
    check_tests(f"people have {promise}", PROMISES[promise], SIGNS)
