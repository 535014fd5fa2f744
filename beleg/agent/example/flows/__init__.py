"""Four long flows as recipes: founding a company, two registrations, and a freelancer's tax questionnaire."""

from beleg.agent.example.flows.corporate_tax import CORPORATE_TAX
from beleg.agent.example.flows.founding import FOUNDING
from beleg.agent.example.flows.questionnaire import QUESTIONNAIRE
from beleg.agent.example.flows.trade import TRADE

FLOWS = (FOUNDING, QUESTIONNAIRE, TRADE, CORPORATE_TAX)
