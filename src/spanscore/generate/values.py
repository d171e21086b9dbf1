"""Generate fake values for each placeholder."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

NATIONALITIES = {
    "de": ("norwegisch", "chilenisch", "kenianisch", "portugiesisch", "vietnamesisch", "finnisch", "kanadisch"),
    "en": ("Norwegian", "Chilean", "Kenyan", "Portuguese", "Vietnamese", "Finnish", "Canadian", "Samoan"),
}
TITLES = {"de": ("Herr", "Frau", "Dr."), "en": ("Mr.", "Ms.", "Mrs.", "Dr.", "Prof.")}
MONTHS = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "en": "January February March April May June July August September October November December",
}
EARLIEST, LATEST = date(1950, 1, 1), date(2025, 12, 31)


def _language(maker: Any) -> str:
    found: str = maker.locales[0].split("_")[0]
    return found if found in NATIONALITIES else "en"


def _date(maker: Any, chance: random.Random) -> str:
    day = maker.date_between(start_date=EARLIEST, end_date=LATEST)
    language = _language(maker)
    month = MONTHS[language].split()[day.month - 1]
    if language == "de":
        return chance.choice([f"{day.day}. {month} {day.year}", f"{day:%d.%m.%Y}", f"{day:%Y-%m-%d}"])
    return chance.choice(
        [f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}", f"{day:%m/%d/%Y}", f"{day:%Y-%m-%d}"]
    )


def _address(maker: Any, chance: random.Random) -> str:
    return ", ".join(part.strip() for part in maker.address().split("\n") if part.strip())


def _digits(maker: Any, pattern: str) -> str:
    found: str = maker.bothify(pattern, letters="ABCDEFGHJKLMNPRSTUVWXYZ")
    return found


def _license(maker: Any, chance: random.Random) -> str:
    """Return a DEA number: two letters, six digits, and a check digit."""
    digits = [chance.randrange(10) for _ in range(6)]
    check = (digits[0] + digits[2] + digits[4] + 2 * (digits[1] + digits[3] + digits[5])) % 10
    return f"{chance.choice('ABCDFGM')}{chance.choice('ABCDEFGHJKLMNPRSTUVWXYZ')}{''.join(map(str, digits))}{check}"


def _ssn(maker: Any, chance: random.Random) -> str:
    area = chance.choice([*range(1, 666), *range(667, 900)])
    return f"{area:03}-{chance.randrange(1, 100):02}-{chance.randrange(1, 10000):04}"


VALUES: dict[str, Callable[[Any, random.Random], str]] = {
    "ADDRESS": _address,
    "AGE": lambda maker, chance: str(chance.randrange(18, 96)),
    "CREDIT_CARD": lambda maker, chance: maker.credit_card_number(card_type=chance.choice(["visa16", "mastercard"])),
    "DATE_TIME": _date,
    "EMAIL_ADDRESS": lambda maker, chance: maker.ascii_safe_email(),
    "IBAN_CODE": lambda maker, chance: maker.iban() if hasattr(maker, "iban") else "DE89370400440532013000",
    "IP_ADDRESS": lambda maker, chance: maker.ipv4() if chance.random() < 0.8 else maker.ipv6(),
    "LOCATION": lambda maker, chance: maker.city() if chance.random() < 0.7 else maker.country(),
    "MAC_ADDRESS": lambda maker, chance: maker.mac_address(),
    "MEDICAL_LICENSE": _license,
    "NRP": lambda maker, chance: chance.choice(NATIONALITIES[_language(maker)]),
    "ORGANIZATION": lambda maker, chance: maker.company(),
    "PERSON": lambda maker, chance: f"{maker.first_name()} {maker.last_name()}",
    "PHONE_NUMBER": lambda maker, chance: maker.phone_number(),
    "TITLE": lambda maker, chance: chance.choice(TITLES[_language(maker)]),
    "URL": lambda maker, chance: maker.url() + chance.choice(["", "news", "team/contact", "a?id=7"]),
    "US_BANK_NUMBER": lambda maker, chance: _digits(maker, "%###########"),
    "US_DRIVER_LICENSE": lambda maker, chance: _digits(maker, "?%######"),
    "US_PASSPORT": lambda maker, chance: _digits(maker, "%########"),
    "US_SSN": _ssn,
}
"""Mapping of placeholders to functions that generate a value."""
