"""The example's 14 groups: who needs them, and how early they stand in the prompt."""

from beleg.agent.toolsets import Condition, Group, fact

ADVISER = fact("user.role", "tax_adviser")
INCORPORATED = fact("company.is_incorporated")
FOUNDING = fact("company.is_founding")
EMPLOYER = fact("company.has_employees")
NEW_FREELANCER = Condition(
    "freelancer not yet registered",
    lambda context: context.company.is_new and not (context.company.is_incorporated or context.company.is_founding),
)
NEW_COMPANY = Condition(
    "company not yet registered", lambda context: context.company.is_new and context.company.is_incorporated
)

invoices = Group("invoices", rank=10)
customers = Group("customers", rank=11)
transactions = Group("transactions", rank=12)
receipts = Group("receipts", rank=13)
taxes = Group("taxes", rank=14)
banking = Group("banking", rank=15)
guidance = Group("guidance", rank=16)
questionnaire = Group("questionnaire", rank=20, when=NEW_FREELANCER)
accounts = Group("accounts", rank=30, when=INCORPORATED)
corporate_tax = Group("corporate_tax", rank=31, when=NEW_COMPANY)
payroll = Group("payroll", rank=32, when=EMPLOYER)
founding = Group("founding", rank=40, when=FOUNDING)
trade = Group("trade", rank=41, when=FOUNDING)
review = Group("review", rank=50, when=ADVISER)

STANDING = (invoices, customers, transactions, receipts, taxes, banking, guidance, accounts, payroll, review)
"""Those whose tools need nothing but the context; those of the four flows stand on a store."""
APP = "app.example"
"""The host on which a person does what the agent cannot."""
