#!/bin/sh
# "Fails" while the module has an exponential and a reduction.
grep -q math.exp "$1" && grep -q tile.reduce "$1"
