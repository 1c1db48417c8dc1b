// The data of a run: samples or tokens out of a file, as batches, ready ahead of time if asked.
#pragma once

#include "reference/data/batches.h"
#include "reference/data/dataset.h"
#include "reference/data/prefetch.h"
#include "reference/data/source.h"
#include "reference/data/tokens.h"
