// RUN: tile-opt %s
