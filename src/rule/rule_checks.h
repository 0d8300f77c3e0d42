// What is wrong with a rule although each of its fields is right.
#pragma once

#include "rule/field_reader.h"
#include "rule/report.h"
#include "rule/rule.h"

namespace weir::rule {

// The widths of `ip` in the rule's keys, those of the first that has one.
AddressBits BaseBits(const Rule& rule);

// A tier has to be wider than the key it stands beside.
void CheckTier(const Rule& rule, const Tier& tier, Place place, Report& report);

// `fields` are those that `rule` was read from.
void CheckFieldsTogether(const Fields& fields, const Rule& rule, Report& report);

}  // namespace weir::rule
