package dev.kagzi.server.web.runs;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.PageRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/**
 * The progress of an action on many runs. The form that continues the action contains it, so no
 * server has to store it.
 *
 * @param left the runs that are still to be changed
 * @param problems of runs that were not changed; the number is limited
 */
public record BulkWork(
    RunAction action,
    RunAction.Options options,
    int total,
    List<RunId> left,
    int done,
    int notApplicable,
    int failed,
    List<Problem> problems) {

  private static final int PARTS = 25;
  private static final int PART_MIN = 100;
  private static final int PARALLEL_MAX = 64;
  private static final int PROBLEMS_MAX = 50;
  private static final String BETWEEN = "\t";

  /** Why a run was not changed. */
  public record Problem(String run, String text) {}

  public BulkWork {
    left = List.copyOf(left);
    problems = List.copyOf(problems);
  }

  /** Reads the work from the form that continues it. */
  static BulkWork of(PageRequest request) {
    List<RunId> left = RunIdList.decode(request.form("runs"));
    List<Problem> problems = new ArrayList<>();
    for (String line : request.formAll("problem")) {
      String[] parts = line.split(BETWEEN, 2);
      problems.add(new Problem(parts[0], parts.length > 1 ? parts[1] : ""));
    }
    int done = number(request, "done");
    int notApplicable = number(request, "not_applicable");
    int failed = number(request, "failed");
    return new BulkWork(
        RunAction.parse(request.form("action")),
        new RunAction.Options(
            request.form("operation"),
            request.form("reason"),
            request.form("force").equals("true")),
        done + notApplicable + failed + left.size(),
        left,
        done,
        notApplicable,
        failed,
        problems);
  }

  private static int number(PageRequest request, String name) {
    String text = request.form(name);
    try {
      return text.isEmpty() ? 0 : Math.clamp(Integer.parseInt(text), 0, BulkPlan.RUNS_MAX);
    } catch (NumberFormatException e) {
      throw Refusal.invalid(name, text, "a number");
    }
  }

  /** Changes the next part of the runs and returns what is left. */
  BulkWork next(Engine engine, String namespace) {
    int part = Math.min(left.size(), Math.max(PART_MIN, total / PARTS));
    List<RunId> now = left.subList(0, part);
    List<Future<RunAction.Outcome>> outcomes = new ArrayList<>();
    Semaphore places = new Semaphore(PARALLEL_MAX);
    try (ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor()) {
      for (RunId run : now) {
        places.acquireUninterruptibly();
        outcomes.add(
            calls.submit(
                () -> {
                  try {
                    return action.act(engine, namespace, run, options);
                  } finally {
                    places.release();
                  }
                }));
      }
    }
    return counted(now, outcomes);
  }

  private BulkWork counted(List<RunId> now, List<Future<RunAction.Outcome>> outcomes) {
    int doneNow = 0;
    int failedNow = 0;
    List<Problem> all = new ArrayList<>(problems);
    for (int i = 0; i < now.size(); i++) {
      String run = now.get(i).toString();
      Future<RunAction.Outcome> outcome = outcomes.get(i);
      if (outcome.state() == Future.State.FAILED) {
        failedNow++;
        add(all, run, String.valueOf(outcome.exceptionNow().getMessage()));
      } else if (outcome.resultNow().done()) {
        doneNow++;
      } else {
        add(all, run, outcome.resultNow().text());
      }
    }
    return new BulkWork(
        action,
        options,
        total,
        left.subList(now.size(), left.size()),
        done + doneNow,
        notApplicable + now.size() - doneNow - failedNow,
        failed + failedNow,
        all);
  }

  private static void add(List<Problem> problems, String run, String text) {
    if (problems.size() < PROBLEMS_MAX) {
      problems.add(new Problem(run, text.replace(BETWEEN, " ")));
    }
  }

  public int changed() {
    return total - left.size();
  }

  public boolean isFinished() {
    return left.isEmpty();
  }

  public String encodedRuns() {
    return RunIdList.encode(left);
  }

  /** Returns a problem as the value of a form's field. */
  public static String encoded(Problem problem) {
    return problem.run() + BETWEEN + problem.text();
  }

  public int unexplained() {
    return notApplicable + failed - problems.size();
  }
}
