"""What is promised of reading and answering anybody's mail, and which test shows it: a promise whose test is gone fails."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MAIL, READ, FLOW = "unit/mail/", "unit/read_email/", "flow/"
ASSERTS = ("assert ", "raises(", "at_most(")  # the last counts CPU seconds
LEFT_OUT = ("mark.skip(", "mark.xfail")
LAYOUT = "integration/test_send_layout.py"
PROMISES = {  # the promise: each test that shows it, as file::function
    "no pattern that meets mail is more than linear": (
        f"{MAIL}test_patterns.py::test_every_pattern_is_linear_on_runs_of_each_class_and_of_its_own_tokens",
        f"{MAIL}test_patterns.py::test_every_pattern_of_the_wording_files_is_linear",
        f"{MAIL}test_patterns.py::test_a_quadratic_pattern_is_found",
        f"{MAIL}test_wording.py::test_a_subject_of_one_repeated_sign_stopped_the_reader",
    ),
    "a header of one sign or token, repeated, is read": (
        f"{MAIL}test_hostile_mail.py::test_a_header_of_one_repeated_sign_or_token_is_read_in_bounded_time",
    ),
    "answer and quote are never swapped, and no word of an answer is lost": (
        f"{MAIL}test_answers.py::test_no_word_of_an_answer_is_lost_and_none_swapped_for_the_quote",
        f"{MAIL}test_answers.py::test_the_formats_are_many_and_in_many_languages",
        f"{MAIL}test_reply_text.py::test_an_answer_that_begins_like_an_attribution_was_taken_for_the_quotes",
    ),
    "what would be quoted whole is new": (f"{MAIL}test_reply_text.py::test_a_mail_that_would_be_all_quote_is_new",),
    "lists, lines and signatures of a customer's stay": (
        f"{MAIL}test_reply_text.py::test_a_customers_words_are_never_cut",
        f"{MAIL}test_own_words.py::test_what_a_customer_shows_stays_new",
        f"{MAIL}test_client_attributions.py::test_what_the_customer_says_that_they_wrote_is_theirs",
    ),
    "quotes of every program go": (
        f"{MAIL}test_answers.py::test_nearly_every_quote_is_taken_off",
        f"{MAIL}test_client_attributions.py::test_the_quote_goes_and_the_customers_words_stay",
        f"{MAIL}test_reply_text.py::test_hard_wrapped_quotes_are_quotes",
        f"{MAIL}test_reply_text.py::test_app_lines_of_more_languages",
    ),
    "of a few words the quote and the signature reach the model as what they are": (
        f"{READ}test_contents.py::test_a_few_words_travel_with_their_quote_and_signature",
    ),
    "a person is never taken for a robot": (
        f"{MAIL}test_automatic_replies.py::test_a_person_is_never_taken_for_a_robot",
        f"{MAIL}test_automatic_replies.py::test_a_doubt_goes_to_a_person_and_is_not_set_aside_in_silence",
        f"{MAIL}test_automatic_replies.py::test_frozen_people_are_never_taken_for_robots",
        f"{MAIL}test_filters.py::test_customers_who_sound_like_robots",
        f"{MAIL}test_filters.py::test_headers_that_say_nothing_against_an_answer",
    ),
    "two kinds of evidence make a robot, and a request outweighs them": (
        f"{MAIL}test_automatic_replies.py::test_two_kinds_of_evidence_make_a_robot_in_no_known_language",
        f"{MAIL}test_automatic_replies.py::test_a_request_outweighs_speed_and_repetition",
        "integration/test_read_email.py::test_the_same_note_once_more_is_a_robots",
    ),
    "a robot with a header or a prefix is never answered": (
        f"{MAIL}test_automatic_replies.py::test_a_robot_with_a_header_or_a_prefix_is_never_answered",
        f"{MAIL}test_automatic_replies.py::test_prefixes_of_mail_programs",
        f"{FLOW}test_robots.py::test_no_robot_is_answered_and_no_model_is_asked",
    ),
    "a robot without either is not answered where it answers at once": (
        f"{MAIL}test_automatic_replies.py::test_no_note_in_whatever_words_is_answered_where_nobody_can_have_read_ours",
        "integration/test_read_email.py::test_what_answers_ours_before_anyone_can_have_read_it_goes_to_a_colleague",
    ),
    "who tries the product is answered as fast as they type": (
        "integration/test_read_email.py::test_who_tries_the_product_and_answers_at_once_is_answered",
    ),
    "a bounce names only whom it names, and suppresses only whom we wrote to": (
        f"{MAIL}test_reports.py::test_a_report_names_only_whom_it_names",
        f"{FLOW}test_bounces.py::test_a_report_suppresses_only_whom_the_mail_went_to",
        f"{FLOW}test_bounces.py::test_a_forged_bounce_suppressed_the_recipient_of_a_mail_whose_id_its_sender_knew",
    ),
    "DMARC's policies are RFC 7489's": (
        f"{MAIL}test_authentication.py::test_policies",
        f"{MAIL}test_mail_benchmark.py::test_every_dmarc_result_has_a_word_in_the_score",
    ),
    "no mail takes more than its time and memory, and what is too large is parked": (
        f"{MAIL}test_hostile_mail.py::test_the_worst_mail_is_read_in_bounded_time",
        f"{MAIL}test_hostile_mail.py::test_memory_of_a_large_mail_is_bounded",
        f"{MAIL}test_hostile_mail.py::test_html_of_too_many_elements_is_parked",
        "integration/test_receive_broken_mails.py::test_broken_mails_are_all_read_or_parked_and_none_is_lost",
    ),
    "whoever fills in a form is answered, and stays a stranger": (
        f"{FLOW}test_contact_form.py::test_a_visitor_is_answered_and_stays_a_stranger",
        f"{READ}test_forwarders.py::test_a_forwarder_has_to_be_proven_itself",
        f"{MAIL}test_filters.py::test_a_machines_mail_with_a_persons_reply_to_is_never_silent",
    ),
    "copies go to the author's colleagues alone": (
        f"{LAYOUT}::test_a_reply_has_its_signature_footer_and_quote_and_goes_to_the_authors_colleagues",
        f"{LAYOUT}::test_a_hostile_list_of_copies_adds_nobody_but_the_authors_colleagues",
        "unit/send_email/test_copies.py::test_strangers_ourselves_machines_and_the_author_get_no_copy",
    ),
    "each recipient's memory stays their own": (
        f"{LAYOUT}::test_who_got_a_copy_is_not_told_what_is_remembered_of_the_author",
    ),
    "signature, footer, quote and files of a reply": (
        f"{LAYOUT}::test_what_a_person_approves_is_what_leaves_to_the_letter",
        f"{LAYOUT}::test_a_person_attaches_a_file",
        f"{LAYOUT}::test_the_agent_attaches_only_files_that_the_operator_marked",
    ),
    "a colleague's answer is seen without IMAP": (
        f"{FLOW}test_human_reply_copy.py::test_a_colleagues_blind_copy_closes_the_turn",
        f"{FLOW}test_human_reply_copy.py::test_an_outbound_hook_shows_what_a_colleague_sent",
    ),
    "invitations and pictures are told as what they are, and a calendar's reply is not answered": (
        f"{MAIL}test_part_roles.py::test_the_model_is_told_what_a_part_is_for",
        f"{MAIL}test_part_roles.py::test_an_invitation_is_told_in_lines_that_a_person_would_write",
        f"{MAIL}test_part_roles.py::test_a_calendars_reply_that_names_no_method_is_known_by_who_decided",
    ),
    "signed and encrypted mail is recognised": (
        f"{MAIL}test_part_roles.py::test_signed_mail_is_read_and_encrypted_mail_is_for_a_person",
    ),
    "OAuth by a browser or a code, its tokens sealed": (
        "integration/test_oauth_consent.py::test_consent_in_a_browser_gives_a_refresh_token",
        "integration/test_oauth_consent.py::test_consent_by_a_code_on_another_device",
        "integration/test_oauth_consent.py::test_the_token_is_sealed_and_a_renewed_one_takes_its_place",
    ),
    "threads are judged by the product's own resolver": (
        f"{MAIL}test_mail_benchmark.py::test_conversations_are_the_corpus_trees_in_any_order_of_arrival",
    ),
    "robots and people are measured": (f"{MAIL}test_mail_benchmark.py::test_the_simulators_targets_are_met",),
}


@cache
def functions(file: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions of a test file by name."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def check_tests(promise: str, tests: Iterable[str], signs: tuple[str, ...]) -> None:
    """Fail where one of the tests (file::function) of a promise is gone, has none of the signs, or does not run."""
    for one in tests:
        file, _, name = one.partition("::")
        assert name in functions(file), f"{one} is gone: what shows now that {promise}?"
        written = ast.unparse(functions(file)[name])
        assert any(sign in written for sign in signs), f"{one} asserts nothing"
        assert not any(sign in written for sign in LEFT_OUT), f"{one} does not run"


@pytest.mark.parametrize("promise", PROMISES)
def test_a_promise_about_mail_has_its_tests(promise: str) -> None:
    """Each is there under its name, asserts something, and is not skipped."""
    check_tests(promise, PROMISES[promise], ASSERTS)
