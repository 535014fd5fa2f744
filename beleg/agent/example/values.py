"""The kinds of value that the example's tools take, each described once."""

from typing import Annotated

from pydantic import Field

Id = Annotated[str, Field(description="Id as another tool gave it", max_length=40)]
Cents = Annotated[int, Field(description="Amount in cents; negative for money that leaves", ge=-(10**12), le=10**12)]
Positive = Annotated[int, Field(description="Amount in cents", ge=0, le=10**12)]
Day = Annotated[str, Field(description="Day as YYYY-MM-DD", pattern=r"^\d{4}-\d{2}-\d{2}$")]
Month = Annotated[str, Field(description="Month as YYYY-MM", pattern=r"^\d{4}-\d{2}$")]
Year = Annotated[int, Field(description="Calendar year", ge=2000, le=2100)]
Words = Annotated[str, Field(description="Words to look for in names, texts and numbers", max_length=120)]
Name = Annotated[str, Field(description="Name as it shall appear", max_length=120)]
Note = Annotated[str, Field(description="Remark in the user's own words", max_length=500)]
Percent = Annotated[int, Field(description="Rate in percent", ge=0, le=100)]
Most = Annotated[int, Field(description="At most so many rows", ge=1, le=100)]
