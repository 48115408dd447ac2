"""The console: server-rendered pages for the people who work with the deployment, thin over `operations`.

site.py       what every page stands on: templates, session, answers and errors as pages
sessions.py   the cookie of a session and the token of its forms
forms.py      what a form sent, checked
shown.py      what templates show: times, ages, names, safe addresses
language.py   the language of a page, and what is said in it
script_texts.py  the texts of our own modules
sign_in.py    a password or a one-time link becomes a session
openid.py     an account at an OpenID provider becomes a session, or is linked
inbox.py      threads by who has to act next
first_steps.py  the guide to a first answered mail
jump.py       a page, a person or a thread by its first characters
bulk.py       several threads at once
thread.py     one thread, and what a person does with it
answer.py     a person's own reply, taking it back, who has the thread
drafts.py     drafts that wait, approved or rejected
thumbs.py     what colleagues think of a reply that left
sentences.py  a draft in sentences, each with its source
mails.py      one whole mail, its HTML in a frame that runs nothing, its files
reasons.py    why a reply says what it says
what_if.py    the draft that other rules would give
people.py     a person: facts with their sources, brief, threads
personal_data.py  all that is held of a person: counted, exported, erased
connections.py  addresses that are one person, and what they share with others
memory.py     what is asked of a person's memory
knowledge.py  documents, a search as the agent makes it, proposed articles
quality.py    what people made of drafts and replies, with a line for each trend
incidents.py  what several customers report at once, and mail that we begin
investigations.py  hard cases on files: rounds, files, what is proposed
diffs.py      a unified diff as files and runs of lines
pipeline.py   the flow with its lag, dead letters and what stands still
flow.py       the flow as a drawing
deliveries.py replies on their way out
settings.py   what is in force, and who said it
inbox_test.py  whether an inbox of the settings works, step by step
users.py      who may sign in, for admins; the record of what was done
webhooks.py   endpoints of other programs, for admins; what each was told
keys.py       what each single key does
me.py         password, language, keys, second factor and API tokens of whoever is signed in
live.py       one stream that says which threads changed
locale/       a catalogue for each language but English
static/       our own modules and style sheet; nothing is loaded from elsewhere

Invariants
- No page does a thing that `operations` does not do for API and command line, and every act is done by a POST.
- Every text of ours is looked up in the catalogues (`tests/contract/test_catalogues.py`).
- What others wrote is text: templates escape everything, and no script or style stands in a page.
"""
