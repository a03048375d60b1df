#!/usr/bin/env bash
# Runs the programs in Examples against the shipped rooms.
# proves: C-008 C-009 C-011 C-013 C-014 C-015 C-018 C-019 C-020 C-021 C-023 C-025 C-026 C-071 C-073 C-074 C-078 C-080 C-089 C-090 C-097 C-099
# proves: C-100 C-103 C-104 C-113 C-115 C-116 C-123 C-133 C-134 C-136 C-144 C-145 C-152 C-153 C-154 C-181 C-183 C-196 C-198 C-214
# proves: C-170 C-172 C-173 C-174
exec Examples/run
