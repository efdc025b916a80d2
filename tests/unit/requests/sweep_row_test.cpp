#include "requests/sweep_row.h"

#include <gmock/gmock.h>

#include "requests/sweep.h"
#include "requests/sweep_drawing.h"
#include "requests/sweep_shown.h"

namespace intarsia::requests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

SweepRow row(const std::string& model, std::optional<int64_t> ram, double microseconds) {
  SweepRow row;
  row.model = model;
  row.target = row.choice = "t";
  row.board = "host";
  row.figures.ram = ram;
  row.figures.constants = 1;
  row.figures.microseconds = microseconds;
  return row;
}

TEST(SweepRow, OnlyRowsOfTheSameModelBeatEachOther) {
  const std::vector<SweepRow> rows = {row("a", 10, 5), row("a", 20, 3), row("a", 20, 5),
                                      row("a", 30, 3), row("a", {}, 1), row("b", 40, 9),
                                      row("a", 10, 5)};
  const std::vector<Figure> by = compared_by_default(rows);
  EXPECT_THAT(by, ElementsAre(Figure::Ram, Figure::Constants, Figure::Microseconds));
  // Equal rows do not beat each other, and one that lacks a figure neither beats nor is marked.
  EXPECT_THAT(unbeaten(rows, by), ElementsAre(true, true, false, false, false, true, true));
  EXPECT_THAT(unbeaten(rows, std::vector{Figure::Ram}),
              ElementsAre(true, false, false, false, false, true, true));
}

TEST(SweepRow, RowsAreComparedByFlashWhereItIsKnownOfAll) {
  std::vector<SweepRow> rows = {row("a", 10, 5), row("a", 20, 3), row("a", 1, 1)};
  rows[0].figures.flash = 100;
  rows[1].figures.flash = 50;
  rows[2].error = "cannot be had";
  EXPECT_EQ(compared_by_default(rows)[1], Figure::Flash);
  // What cannot be had beats nothing, whatever its figures are.
  EXPECT_THAT(unbeaten(rows, compared_by_default(rows)), ElementsAre(true, true, false));
  rows[1].figures.flash.reset();
  EXPECT_EQ(compared_by_default(rows)[1], Figure::Constants);
}

TEST(SweepRow, FiguresAreNamed) {
  for (const Figure figure : all_figures()) EXPECT_EQ(figure_named(to_string(figure)), figure);
  EXPECT_EQ(figure_named("speed"), std::nullopt);
}

TEST(SweepRow, CsvQuotesWhatItMust) {
  std::vector<SweepRow> rows = {row("a,\"b\"", 10, 5)};
  rows[0].error = "one\ntwo";
  EXPECT_EQ(sweep_csv(rows, {false}),
            "model,target,board,ram_budget,ram,flash,constants,stack,cycles,microseconds,macs,"
            "error,unbeaten\n"
            "\"a,\"\"b\"\"\",t,host,,10,,1,,,5.0,,\"one\ntwo\",false\n");
  const ShownSweep shown = shown_sweep(rows, {false}, compared_by_default(rows));
  EXPECT_EQ(shown.reasons[0], "one (and 1 line more)");
}

TEST(SweepRow, ModelsAreNamedByTheirFilesAndThenByTheirPaths) {
  EXPECT_THAT(sweep_names({"x/kws.tflite", "y/kws.tflite", "./kws.onnx", "y/./kws.tflite"}),
              ElementsAre("kws", "y/kws.tflite", "kws.onnx", "y/kws.tflite#3"));
}

// Whatever the figures are, a drawing is made of numbers.
TEST(SweepRow, DrawingsOfEqualAndExtremeFigures) {
  const std::vector<std::vector<SweepRow>> sweeps = {
      {row("a", 0, 0)},
      {row("a", 5, 5), row("a", 5, 5)},
      {row("a", 1, 1e-3), row("a", int64_t{1} << 50, 1e12), row("a", 3, 7)},
      {row("a", 0, 0), row("a", int64_t{1} << 50, 1e12)}};
  const std::vector<Figure> by = {Figure::Ram, Figure::Constants, Figure::Microseconds};
  for (const std::vector<SweepRow>& rows : sweeps) {
    std::vector<DrawnRow> drawn;
    for (const SweepRow& each : rows) drawn.push_back({&each, drawn.size() + 1, true, 0});
    ASSERT_TRUE(can_be_drawn(drawn, by));
    const std::string svg = sweep_drawing(drawn, by);
    EXPECT_THAT(svg, HasSubstr("class=\"point c0 unbeaten\""));
    for (const char* word : {"nan", "inf"}) EXPECT_THAT(svg, Not(HasSubstr(word)));
    EXPECT_LT(svg.size(), 20000u);
  }
}

}  // namespace
}  // namespace intarsia::requests
