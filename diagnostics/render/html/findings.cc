#include <algorithm>

#include "checks/engine/text.h"
#include "diagnostics/fingerprint.h"
#include "diagnostics/masked.h"
#include "diagnostics/render/html/plot.h"
#include "diagnostics/render/html/proofs.h"
#include "diagnostics/render/html/sections.h"

namespace dlcheck::html {
namespace {

constexpr size_t kMostPlaces = 40;
constexpr size_t kMostFindings = 200;
constexpr size_t kMostFigures = 24;  // of the first findings: a page stays below 2 MB

void AddPair(Node list, std::string_view term, std::string_view text) {
  if (text.empty()) return;
  Add(list, "dt", term);
  Add(list, "dd", text);
}

void AddPlaces(Node list, const Finding& finding) {
  std::vector<std::string> names;
  for (const Place& place : finding.places) {
    if (!NameOf(place).empty()) names.push_back(NameOf(place));
  }
  if (names.empty()) return;
  Add(list, "dt", "Where");
  Node where = Add(list, "dd");
  for (size_t i = 0; i < std::min(kMostPlaces, names.size()); ++i) {
    if (i > 0) AddText(where, ", ");
    AddName(where, names[i]);
  }
  if (names.size() > kMostPlaces) {
    AddText(where, StrCat(" and ", names.size() - kMostPlaces, " more"));
  }
}

std::string StepsOf(const Finding& finding) {
  if (finding.first_step == finding.last_step) return WithCommas(finding.first_step);
  return StrCat(WithCommas(finding.first_step), " to ", WithCommas(finding.last_step));
}

// The lines of the program around the first place that has one.
void AddExcerpt(Node article, const Finding& finding, const Frame& frame) {
  for (const Place& place : finding.places) {
    for (const Excerpt& excerpt : frame.excerpts) {
      if (place.file != excerpt.file || place.line != excerpt.line) continue;
      Node heading = Add(article, "p", "", "soft");
      AddName(heading, StrCat(excerpt.file, ":", excerpt.line));
      Node code = Add(Add(article, "pre"), "code");
      Set(code.parent(), "tabindex", "0");
      for (size_t i = 0; i < excerpt.lines.size(); ++i) {
        const int number = excerpt.first_line + static_cast<int>(i);
        std::string shown = std::to_string(number);
        shown.insert(0, shown.size() < 5 ? 5 - shown.size() : 0, ' ');
        StrAppend(&shown, "  ", excerpt.lines[i]);
        if (number == excerpt.line) {
          Add(code, "mark", shown);  // a block: it ends its line
        } else {
          AddText(code, shown + "\n");
        }
      }
      return;
    }
  }
}

// Boxes with arrows between them, from the origin on.
void AddChain(Node article, const Finding& finding) {
  if (finding.chain.empty()) return;
  Node figure = Add(article, "figure");
  Node caption = Add(figure, "figcaption");
  Add(caption, "strong", "From the origin to where it showed");
  Node list = Add(figure, "ol", "", "chain");
  for (const std::string& link : finding.chain) AddName(list, link, "li");
}

void AddFinding(Node section, const Page& page, const Result& result, const Finding& finding,
                size_t number) {
  const std::string id = StrCat("finding-", number);
  const Check& check = *result.check;
  const std::string severity(SeverityName(finding.severity));
  Node article = Add(section, "article", "", StrCat("finding ", severity));
  Set(article, "id", id);
  Add(article, "p", severity, "badge");
  Add(article, "h3", check.title);
  Add(article, "p", finding.message);
  Add(article, "p", StrCat("Fix: ", FixIn(check, page.report.language)), "fix");
  AddChain(article, finding);
  const std::optional<Plot> proof = ProofOf(check, finding, page.series, id + "-figure");
  if (proof.has_value() && number <= kMostFigures) AddPlot(article, *proof);
  AddExcerpt(article, finding, page.frame);
  Node list = Add(article, "dl");
  if (page.frame.tried && page.frame.tried->check == check.id) {
    AddPair(list, "Tried", page.frame.tried->outcome);
  }
  AddPair(list, "Why it matters", check.why);
  AddPlaces(list, finding);
  AddPair(list, "Steps", StepsOf(finding));
  AddPair(list, "How it was found", check.method);
  AddPair(list, "Check", check.id);
}

void AddMasked(Node section, const Page& page, const Result& result) {
  const Masked masked = MaskedBy(page.report, result);
  if (masked.checks.empty()) return;
  Add(section, "p",
      StrCat("This finding masks ", Listed(masked.checks, 4), ": ", masked.why,
             ". Mend it first, and run again."));
}

}  // namespace

void AddFindings(Node main, const Page& page) {
  Node section = AddSection(main, "findings", "Findings");
  if (page.causes.empty()) Add(section, "p", "No check found a fault.");
  size_t count = 0, left_out = 0;
  for (const Cause& cause : page.causes) {
    for (const Finding& finding : cause.result->verdict.findings) {
      if (count == kMostFindings) {
        ++left_out;
        continue;
      }
      AddFinding(section, page, *cause.result, finding, ++count);
    }
    AddMasked(section, page, *cause.result);
    if (cause.symptoms.empty()) continue;
    Node folded = Add(section, "details");
    Add(folded, "summary",
        StrCat(Counted(static_cast<int64_t>(cause.symptoms.size()), "check"),
               " more found something that this explains"));
    for (const Result* symptom : cause.symptoms) {
      for (const Finding& finding : symptom->verdict.findings) {
        if (count < kMostFindings) {
          AddFinding(folded, page, *symptom, finding, ++count);
        }
      }
    }
  }
  if (left_out > 0) {
    Add(section, "p",
        StrCat("left out: ", Counted(static_cast<int64_t>(left_out), "finding"),
               "; result.json has them"));
  }
}

}  // namespace dlcheck::html
