/* SPDX-License-Identifier: MIT */
/* Messages of tl-health; report-ids.h includes this. */

/* clang-format off */

NOTE(HEALTH_SOUND, "{file}: sound ({#n} {n:note|notes})")
WARNING(HEALTH_USABLE,
    "{file}: usable, with {#n} {n:warning|warnings}: {checks}")
WARNING(HEALTH_MISLEADING, "{file}: misleading: {checks}")
WARNING(RULE_FAILED, "{file}: rule {rule} failed: {reason}")
WARNING(RULE_WARNS, "{file}: rule {rule}: {reason}")
NOTE(RULE_NOTES, "{file}: rule {rule}: {reason}")
WARNING(RULE_UNJUDGED, "{file}: rule {rule} not judged: {reason}")
WARNING(RULE_WARNED, "{file}: {helper}: {reason}")
WARNING(MARKED,
    "{file}: tl-health warns of its {figures}: {checks}")
WARNING(MARKED_MISLEADING,
    "{file}: misleading by tl-health, in its {figures}: {checks}")
NOTE(REPAIRED, "{file}: repaired by tl-decode: {repairs}")

/* clang-format on */
