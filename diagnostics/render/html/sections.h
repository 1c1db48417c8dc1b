// The parts of a page, in their order. Each adds nothing where the run has nothing for it.
#pragma once

#include <span>
#include <string>

#include "diagnostics/render/html/document.h"
#include "diagnostics/render/html/markup.h"
#include "diagnostics/render/render.h"
#include "diagnostics/series/series.h"
#include "diagnostics/triage.h"

namespace dlcheck::html {

struct Page {
  const Report& report;
  const Frame& frame;
  const SeriesOfRun& series;
  std::span<const Cause> causes;
};

// "Exit 1: findings".
std::string ExitOf(const Frame& frame);

void AddFindings(Node main, const Page& page);
void AddTimeline(Node main, const Page& page);
void AddSamples(Node main, const Page& page);
void AddLayers(Node main, const Page& page);
void AddStepTimes(Node main, const Page& page);
void AddEvents(Node main, const Page& page);
void AddProcesses(Node main, const Page& page);
void AddNotJudged(Node main, const Page& page);
void AddRun(Node main, const Page& page);
void AddSetAside(Node main, const Page& page);
void AddPassed(Node main, const Page& page);
void AddRaw(Node main, const Page& page);

}  // namespace dlcheck::html
