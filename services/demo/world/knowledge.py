"""The knowledge base of an invented product: eight articles, every figure taken from the product."""

from __future__ import annotations

from services.demo.world.things import Document, Plan, Product

_SSO_DAYS = 5
_LINK_MINUTES = 30


def knowledge_of(product: Product) -> tuple[Document, ...]:
    """The articles, ready for the document importer."""
    makers = (_plans, _billing, _refunds, _single_sign_on, _passwords, _incidents, _exports, _contact)
    return tuple(make(product) for make in makers)


def _plans(product: Product) -> Document:
    return Document(
        "plans",
        "Plans and prices",
        f"""# Plans and prices

{product.name} is a tool for {product.purpose} with three plans.

## What each plan costs

{_price_line(product.entry)}
{_price_line(product.middle)}
{_price_line(product.top)}
Paying yearly costs {product.yearly_discount}% less than paying monthly.

## What each plan includes

The {product.entry.name} plan includes unlimited {product.item} and email support.
The {product.middle.name} plan adds guest access, {product.item} templates and CSV export.
The {product.top.name} plan adds single sign-on (SSO), an audit log and a named contact on our side.

## Free trial

You can try every plan free for 14 days, without a credit card.
""",
    )


def _price_line(plan: Plan) -> str:
    return f"The {plan.name} plan costs ${plan.price} per user per month, for up to {plan.seats} users."


def _billing(product: Product) -> Document:
    return Document(
        "billing",
        "Billing cycle and proration",
        """# Billing cycle and proration

## When you are billed

Invoices are issued on the first day of each month and are due within 15 days.
You find all invoices under Settings > Billing > Invoices.

## Adding or removing users

To add or remove users, an administrator opens Settings > Users.
Users added during a month are charged pro rata: the remaining days of that month appear as a proration line \
on the next invoice.
This is why an invoice can be higher than your number of users times the price of the plan.
Removed users give a proration credit on the next invoice.

## Changing the plan

You can upgrade at any time under Settings > Billing > Plan; the upgrade takes effect at once.
The price difference for the rest of the month is charged pro rata on the next invoice.
A downgrade takes effect at the end of the billing period.
""",
    )


def _refunds(product: Product) -> Document:
    return Document(
        "refunds",
        "Refund policy",
        f"""# Refund policy

Monthly payments can be refunded within {product.refund_days} days of the charge.
Refund requests are decided by a person of our billing team, never automatically.
An approved refund goes back to the original payment method.
To cancel your subscription, open Settings > Billing > Cancel; your {product.item} stay readable until the \
billing period ends.
""",
    )


def _single_sign_on(product: Product) -> Document:
    top = product.top.name
    return Document(
        "single-sign-on",
        f"SSO and the {top} roll-out",
        f"""# SSO and the {top} roll-out

Single sign-on (SSO) is part of the {top} plan and works with SAML 2.0 and OpenID Connect.

## How the roll-out works

To set up SSO, an administrator opens Settings > Security > Single sign-on and enters the metadata URL of your \
identity provider.
We recommend testing SSO with a small group before it is enforced for all users.
A typical {top} roll-out takes {_SSO_DAYS} working days from the upgrade to enforced SSO.
During the roll-out users can still sign in with their password.

## Provisioning

Users can be provisioned automatically through SCIM once SSO is active.
""",
    )


def _passwords(product: Product) -> Document:
    return Document(
        "passwords",
        "Resetting a password",
        f"""# Resetting a password

To reset your password, choose "Forgot password" on the sign-in page at https://app.{product.domain}/sign-in.
The reset link arrives by email and is valid for {_LINK_MINUTES} minutes.
If the reset link does not arrive, look in the spam folder and check that you use the address of your account.
Users who sign in with SSO reset their password with their identity provider.
""",
    )


def _incidents(product: Product) -> Document:
    return Document(
        "incidents",
        "Status and incidents",
        f"""# Status and incidents

Current incidents and planned maintenance are shown on {product.status_page}.
During an incident we update the status page every 60 minutes.
If {product.item} do not sync or load, first check the status page, then sign out and sign in again.
If the problem stays, send us the time it happened and the browser you use, so that our engineers can look into it.
""",
    )


def _exports(product: Product) -> Document:
    return Document(
        "exports",
        "Exporting your data",
        f"""# Exporting your data

Administrators can export all {product.item} as CSV or JSON under Settings > Data > Export.
A large export is prepared in the background, and a download link arrives by email.
The download link is valid for 7 days.
After a subscription ends, data is kept for 30 days and then deleted.
""",
    )


def _contact(product: Product) -> Document:
    return Document(
        "contact",
        "Reaching a person",
        f"""# Reaching a person

You can ask for a person in any email: write that you want to talk to a human, and our team takes over.
Our team answers from Monday to Friday, 9:00 to 17:00 UTC.
The {product.top.name} plan has a named contact.
""",
    )
