#include "requests/sweep.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "requests/board_list.h"
#include "requests/measured_program.h"
#include "requests/sweep_targets.h"
#include "support/files.h"
#include "support/process.h"
#include "support/worker_threads.h"

namespace intarsia::requests {
namespace {

struct Task {
  const std::vector<uint8_t>* bytes = nullptr;
  ModelOptions options;
};

template <typename T>
std::vector<T> each_once(const std::vector<T>& all) {
  std::vector<T> once;
  for (const T& one : all)
    if (std::find(once.begin(), once.end(), one) == once.end()) once.push_back(one);
  return once;
}

struct Model {
  std::string name, path;
  std::vector<uint8_t> bytes;
};

std::vector<Model> read_models(const SweepRequest& request, Diagnostics& problems) {
  std::vector<Model> models;
  const std::vector<std::string> paths = each_once(request.models);
  const std::vector<std::string> names = sweep_names(paths);
  if (paths.empty()) problems.add("sweep", "there is no model", "name one, or several");
  for (size_t i = 0; i < paths.size(); ++i) {
    Result<std::vector<uint8_t>> bytes = read_file(paths[i]);
    if (bytes.ok())
      models.push_back({names[i], paths[i], *std::move(bytes)});
    else
      problems.append(bytes.error());
  }
  return models;
}

struct BoardChoice {
  std::string given, name;
};

// Of boards that nobody named, those whose compiler is there, if any is: flash that is not known of one row is a figure that none is
// compared by.
std::vector<board::Board> measurable(const std::vector<board::Board>& boards) {
  std::map<std::string, bool> is_there;
  std::vector<board::Board> kept;
  for (const board::Board& board : boards) {
    const auto [compiler, is_new] = is_there.try_emplace(board.compiler, false);
    if (is_new) compiler->second = run_process({board.compiler, "--version"}).ok();
    if (compiler->second) kept.push_back(board);
  }
  return kept.empty() ? boards : kept;
}

std::vector<BoardChoice> find_boards(const Environment& environment, const SweepRequest& request,
                                     Diagnostics& problems) {
  std::vector<BoardChoice> choices;
  if (request.boards.empty() && request.targets.empty()) {
    const Result<std::vector<board::Board>> all = boards_named(environment, "");
    if (!all.ok()) {
      problems.append(all.error());
      return choices;
    }
    std::vector<board::Board> boards;
    for (const board::Board& board : *all)
      if (!board.native()) boards.push_back(board);
    if (request.measures) boards = measurable(boards);
    for (const board::Board& board : boards) choices.push_back({board.name, board.name});
    return choices;
  }
  const Result<std::vector<std::string>> folders = environment.board_folders();
  if (!folders.ok()) {
    problems.append(folders.error());
    return choices;
  }
  const std::vector<std::string> given =
      request.boards.empty() ? std::vector<std::string>{"host"} : each_once(request.boards);
  for (const std::string& name : given) {
    const Result<board::Board> board = board::find_board(*folders, name);
    if (board.ok())
      choices.push_back({name, board->name});
    else
      problems.append(board.error());
  }
  return choices;
}

std::string lines_of(const Diagnostics& problems) {
  std::string text = problems.to_string();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void compile_row(Environment& environment, const Task& task, bool measures, SweepRow& row) {
  MeasuredRequest request;
  request.options = task.options;
  request.bytes = *task.bytes;
  request.measures = measures;
  request.on_note = [&](const std::string& note) { row.notes.push_back(note); };
  const Result<MeasuredProgram> made = compile_and_measure(environment, request);
  if (!made.ok()) {
    row.error = lines_of(made.error());
    return;
  }
  row.target = to_string(made->selection.target);
  if (row.choice.empty())
    row.choice =
        to_tag(environment.registry.catalogue(), made->selection.target).value_or(row.target);
  row.figures = sweep_figures(made->report);
  if (!made->report.measured) row.not_measured = made->report.not_measured;
}

// Rows are dealt to threads one at a time, and have their places already.
class Sweeping {
 public:
  Sweeping(Environment& environment, const SweepRequest& request, const std::vector<Task>& tasks,
           std::vector<SweepRow>& rows)
      : environment_(environment), request_(request), tasks_(tasks), rows_(rows) {}

  void run() {
    const size_t jobs = request_.jobs > 0 ? request_.jobs : usual_jobs();
    WorkerThreads others;
    for (size_t t = 1; t < std::min(jobs, tasks_.size()); ++t)
      if (!others.start([this] { work(); })) break;
    work();
    others.join();
  }

 private:
  // A row that is measured starts several compilers at a time by itself.
  size_t usual_jobs() const {
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    const bool measures =
        request_.measures && std::any_of(rows_.begin(), rows_.end(),
                                         [](const SweepRow& row) { return row.board != "host"; });
    return measures ? std::max<size_t>(1, cores / 2) : cores;
  }

  void work() {
    try {
      for (size_t i = next_++; i < tasks_.size(); i = next_++) {
        compile_row(environment_, tasks_[i], request_.measures, rows_[i]);
        const std::lock_guard lock(mutex_);
        if (request_.on_progress) request_.on_progress(++ready_, tasks_.size());
      }
    } catch (...) {
      next_ = tasks_.size();  // for the others as well
      throw;
    }
  }

  Environment& environment_;
  const SweepRequest& request_;
  const std::vector<Task>& tasks_;
  std::vector<SweepRow>& rows_;
  std::atomic<size_t> next_{0};
  std::mutex mutex_;
  size_t ready_ = 0;
};

}  // namespace

std::vector<std::string> sweep_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (size_t i = 0; i < paths.size(); ++i) {
    const std::filesystem::path path = paths[i];
    std::string name = path.stem().string();
    if (taken.contains(name)) name = path.lexically_normal().string();
    if (taken.contains(name)) name += fmt::format("#{}", i);
    taken.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

Result<std::vector<SweepRow>> sweep(Environment& environment, const SweepRequest& request) {
  INTARSIA_TRY_VOID(environment.load_tags(request.options.tags_file));
  Diagnostics problems;
  const std::vector<Model> models = read_models(request, problems);
  Result<std::vector<TargetChoice>> targets = target_choices(
      environment.registry.catalogue(), each_once(request.targets), each_once(request.attributes));
  if (!targets.ok()) problems.append(targets.error());
  const std::vector<BoardChoice> boards = find_boards(environment, request, problems);
  if (!problems.empty()) return problems;

  std::vector<SweepBudget> budgets = each_once(request.ram_budgets);
  if (budgets.empty()) budgets.emplace_back();
  std::vector<Task> tasks;
  std::vector<SweepRow> rows;
  for (const Model& model : models)
    for (const TargetChoice& target : *targets)
      for (const BoardChoice& board : boards)
        for (const SweepBudget& budget : budgets) {
          Task& task = tasks.emplace_back(Task{&model.bytes, request.options});
          task.options.model = model.path;
          task.options.target = target.text;
          task.options.board = board.given;
          task.options.ram_budget = budget.bytes;
          task.options.ram_budget_is_auto = budget.is_auto;
          SweepRow& row = rows.emplace_back();
          row.model = model.name;
          row.target = target.text;
          row.choice = target.shown;
          row.board = board.name;
          row.ram_budget = budget;
        }
  Sweeping(environment, request, tasks, rows).run();
  // A row that was refused before its board's core was known is called after it all the same.
  for (SweepRow& row : rows)
    if (row.choice.empty()) row.choice = "the board's core";
  return rows;
}

}  // namespace intarsia::requests
