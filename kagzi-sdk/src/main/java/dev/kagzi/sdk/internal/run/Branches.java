package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchFailedException;
import dev.kagzi.sdk.BranchResult;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.internal.trace.TraceScope;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs branches of a workflow thread in parallel and waits for them. The winner of a race and the
 * first failure are recorded as a step of their own, because the branches' steps do not show them.
 * Only the opening workflow thread may use it.
 */
final class Branches {
  private static final String BRANCH = "branch";

  /**
   * Metadata of a recorded failure: how many branches had begun when one failed. Absent if all had.
   */
  private static final String BEGUN = "begun_branches";

  private final RunContext context;
  private final WorkflowThread parent;
  private final String key;
  private final List<? extends Branch<?>> branches;
  private final int maxParallel;
  private final long startedNanos = System.nanoTime();
  private final List<Running> running = new ArrayList<>();
  private int attempt = 1;

  /** Guarded by the lock of the execution state. */
  private final ArrayDeque<Running> ended = new ArrayDeque<>();

  Branches(
      RunContext context,
      WorkflowThread parent,
      String key,
      List<? extends Branch<?>> branches,
      int maxParallel) {
    this.context = context;
    this.parent = parent;
    this.key = key;
    this.branches = branches;
    this.maxParallel = maxParallel;
    checkNames();
  }

  private void checkNames() {
    Set<String> names = new HashSet<>();
    for (Branch<?> branch : branches) {
      if (!names.add(branch.name())) {
        throw new InvalidArgumentException(
            "DUPLICATE_BRANCH",
            "branches of %s: two are named %s (expected: a name of its own for each)"
                .formatted(key, branch.name()));
      }
    }
  }

  private final class Running {
    private final int index;
    private final Branch<?> branch;
    private final WorkflowThread thread;
    private @Nullable Object value;
    private @Nullable Throwable failure;
    private boolean suspended;

    Running(int index) {
      this.index = index;
      this.branch = branches.get(index);
      Thread thread =
          Thread.ofVirtual().name(context.workflowType() + " " + scope()).unstarted(this::execute);
      this.thread = parent.state().open(thread, parent);
      context.slotHolders().began();
      thread.start();
    }

    private String scope() {
      return Branches.this.scope(branch);
    }

    private void execute() {
      thread.enter();
      try {
        executeAndAwaitDurable();
      } finally {
        parent.state().close(thread, this::addToEnded);
        parent.state().left(thread);
        context.slotHolders().ended();
      }
    }

    // All recorded steps of a branch are durable before the parent continues with its result.
    private void executeAndAwaitDurable() {
      try {
        thread.check();
        value = executeCode();
        thread.reports().awaitDurable();
      } catch (SuspendedError e) {
        suspended = true;
      }
    }

    private @Nullable Object executeCode() {
      try {
        RunContext mine = context.branch(thread, scope(), index);
        thread.enterCode();
        Object result = thread.execute(mine, () -> executeBranch(mine));
        return branch.isCollected() ? done(branch.name(), result) : result;
      } catch (SuspendedError e) {
        throw e;
      } catch (Throwable e) {
        // Code that was interrupted because its branch was stopped may throw anything.
        thread.check();
        if (branch.isCollected()) {
          return new BranchResult.Failed<>(branch.name(), e);
        }
        failure = e;
        return null;
      } finally {
        thread.exitCode();
      }
    }

    private @Nullable Object executeBranch(RunContext mine) throws Exception {
      TraceScope scope = thread.state().trace().enter();
      try {
        return context.interceptors().branch(mine, () -> branch.code().run(mine));
      } finally {
        scope.close();
      }
    }

    private void addToEnded() {
      if (!suspended) {
        ended.add(this);
      }
    }
  }

  // A branch may return null even if its type does not allow it.
  @SuppressWarnings("NullAway")
  static BranchResult<?> done(String name, @Nullable Object result) {
    return new BranchResult.Done<>(name, result);
  }

  private String scope(Branch<?> branch) {
    return key + "[" + branch.name() + "]/";
  }

  /**
   * Returns the results of all branches in order. The first failure stops the others. If the run is
   * cancelled, they are awaited instead: they learn of the cancel themselves, and clean up.
   */
  List<@Nullable Object> all(@Nullable RecordedStep recorded) {
    if (recorded != null) {
      readRecorded(recorded, false);
    }
    if (parent.isReplayOnly()) {
      return replay().all();
    }
    List<@Nullable Object> results = new ArrayList<>(Collections.nCopies(branches.size(), null));
    parent.reports().awaitDurable();
    try {
      int open = 0;
      while (running.size() < branches.size() || open > 0) {
        open = begin(open, branches.size());
        Running one = awaitEnd();
        open--;
        Throwable failure = one.failure;
        if (failure != null) {
          if (parent.mustCancel() || Cancellation.isOf(context.runId(), failure)) {
            awaitCleanUp(open);
          }
          throw fail(one, failure);
        }
        results.set(one.index, one.value);
      }
      return results;
    } finally {
      stopAll("another branch of " + key + " has failed");
    }
  }

  /** Begins branches below this index, as many as may be open; returns how many are open then. */
  private int begin(int open, int end) {
    int opened = open;
    for (; opened < maxParallel && running.size() < end; opened++) {
      running.add(new Running(running.size()));
    }
    return opened;
  }

  // Each branch of a cancelled run learns of the cancel, and may then execute undos. An undo that
  // is interrupted here would never be executed again. With maxParallel, an earlier execution may
  // have begun branches that this one has not; they clean up too.
  private void awaitCleanUp(int othersOpen) {
    int end = branches.size();
    while (end > running.size() && context.history().isEmpty(scope(branches.get(end - 1)))) {
      end--;
    }
    int open = othersOpen;
    while (running.size() < end || open > 0) {
      open = begin(open, end);
      Running unused = awaitEnd();
      open--;
    }
  }

  @Nullable Object first(@Nullable RecordedStep recorded) {
    if (branches.isEmpty()) {
      throw new InvalidArgumentException(
          "NO_BRANCH", "race %s: no branches (expected: at least one)".formatted(key));
    }
    String winner = recorded == null ? null : readRecorded(recorded, true);
    if (parent.isReplayOnly()) {
      return replay().first(winner);
    }
    parent.reports().awaitDurable();
    try {
      return winner == null ? race() : replayWinner(winner);
    } finally {
      stopAll("another branch of " + key + " has won");
    }
  }

  private @Nullable Object race() {
    for (int i = 0; i < branches.size(); i++) {
      running.add(new Running(i));
    }
    for (int open = branches.size(); open > 0; open--) {
      Running one = awaitEnd();
      if (one.failure == null) {
        if (parent.mustCancel()) {
          awaitCleanUp(open - 1);
        }
        stopAll("branch " + one.branch.name() + " of " + key + " has won");
        recordWinner(one);
        return one.value;
      }
    }
    for (Running each : running) {
      if (each.failure != null) {
        throw fail(each, each.failure);
      }
    }
    throw new IllegalStateException("race " + key + ": no branch ended (expected: all of them)");
  }

  // If losers have begun receives, one transaction records the winner and returns the signals that
  // the losers received to the buffer. Otherwise the race could be decided again after a crash, and
  // a former loser would replay a receive whose signal is in the buffer again.
  private void recordWinner(Running winner) {
    ReportItem.StepDone record = winnerRecord(winner);
    List<String> scopes =
        branches.stream()
            .filter(branch -> branch != winner.branch)
            .map(this::scope)
            .filter(context.history()::hasReceives)
            .toList();
    if (scopes.isEmpty()) {
      parent.reports().hold(parent.item().setStepDone(record).build());
      return;
    }
    ReportItem.ReceivesStopped stopped =
        ReportItem.ReceivesStopped.newBuilder().addAllScopes(scopes).setWinner(record).build();
    parent.reports().reportAsync(parent.item().setReceivesStopped(stopped).build());
  }

  private ReportItem.StepDone winnerRecord(Running winner) {
    return ReportItem.StepDone.newBuilder()
        .setStepKey(key)
        .setAttempt(attempt)
        .setKind(StepKind.STEP_KIND_FUNCTION)
        .setOutput(context.payloads().encode(winner.branch.name(), String.class))
        .setRanUs(ranUs())
        .build();
  }

  /**
   * Discards the recorded steps of the losers, and runs the winner again. If a saga is open, each
   * loser is first replayed as far as it is recorded, so that it registers its undos.
   */
  private @Nullable Object replayWinner(String winner) {
    for (int i = 0; i < branches.size(); i++) {
      Branch<?> branch = branches.get(i);
      if (!branch.name().equals(winner)) {
        replayUndos(i);
        context.discard(scope(branch));
      }
    }
    for (int i = 0; i < branches.size(); i++) {
      if (branches.get(i).name().equals(winner)) {
        running.add(new Running(i));
        Running replayed = awaitEnd();
        if (replayed.failure != null) {
          throw HistoryMismatch.blocked(
              parent,
              BlockReason.BRANCHES_CHANGED.name(),
              "race %s: branch %s has won, and fails now: %s"
                  .formatted(key, winner, replayed.failure.getMessage()),
              replayed.failure);
        }
        return replayed.value;
      }
    }
    throw HistoryMismatch.blocked(
        parent,
        BlockReason.BRANCHES_CHANGED.name(),
        "race %s: branch %s has won, and the code has no such branch; was the workflow changed while runs were open?"
            .formatted(key, winner),
        null);
  }

  private Running awaitEnd() {
    while (true) {
      parent.state().join(parent, () -> !ended.isEmpty());
      parent.state().lock();
      try {
        Running one = ended.poll();
        if (one != null) {
          return one;
        }
      } finally {
        parent.state().unlock();
      }
    }
  }

  private void stopAll(String reason) {
    running.forEach(each -> parent.state().stopBranch(each.thread, reason));
  }

  /** Returns the recorded winner, or null if the branches must run; throws a recorded failure. */
  private @Nullable String readRecorded(RecordedStep recorded, boolean race) {
    HistoryMismatch.requireKind(parent, recorded, StepKind.STEP_KIND_FUNCTION);
    switch (recorded.getResultCase()) {
      case FINAL_FAILURE -> {
        replayUndos(recorded.getFinalFailure());
        context.discard(key + "[");
        throw failed(recorded.getFinalFailure());
      }
      case RETRY -> attempt = recorded.getAttempt() + 1;
      case OUTPUT -> {
        if (race) {
          return winner(recorded);
        }
        throw HistoryMismatch.blocked(
            parent,
            BlockReason.BRANCHES_CHANGED.name(),
            "branches %s: on record is a step or a race of that name".formatted(key),
            null);
      }
      case OPEN, SLEEPS_MS, TIMED_OUT, RESULT_NOT_SET ->
          throw HistoryMismatch.unreadable(parent, recorded);
    }
    return null;
  }

  private BranchReplay replay() {
    return new BranchReplay(context, parent, branches, this::scope);
  }

  // A replay does not execute branches that failed or were stopped. But their code may have
  // registered undos with a saga of the surrounding code, so it is executed as far as it is
  // recorded.
  private void replayUndos(ErrorDetail failure) {
    int begun = Integer.parseInt(failure.getMetadataOrDefault(BEGUN, "" + branches.size()));
    for (int i = 0; i < Math.min(begun, branches.size()); i++) {
      replayUndos(i);
    }
  }

  private void replayUndos(int index) {
    if (parent.state().hasSaga()) {
      replay().tryBranch(index);
    }
  }

  private String winner(RecordedStep recorded) {
    try {
      return String.valueOf(context.payloads().decode(recorded.getOutput(), String.class));
    } catch (PayloadException e) {
      throw HistoryMismatch.blocked(
          parent,
          BlockReason.BRANCHES_CHANGED.name(),
          "race %s: recorded winner: %s".formatted(key, e.getMessage()),
          e);
    }
  }

  // The failure is recorded as a failed step, so that a replay does not run the branches again but
  // the next attempt of the run does.
  private KagziException fail(Running failed, Throwable thrown) {
    stopAll("branch " + failed.branch.name() + " of " + key + " has failed");
    ErrorDetail error = error(failed, thrown);
    ReportItem.StepFailed report =
        ReportItem.StepFailed.newBuilder()
            .setStepKey(key)
            .setAttempt(attempt)
            .setError(error)
            .setRetryPolicy(RetryPolicy.newBuilder().setMaximumAttempts(1))
            .setKeepClaim(true)
            .setRanUs(ranUs())
            .build();
    ReportResult result = parent.reports().report(parent.item().setStepFailed(report).build());
    return switch (result.getResultCase()) {
      case FINAL_FAILURE -> failed(error);
      case REFUSED -> throw parent.end(new StopReason.Refused(result.getRefused()));
      default -> throw parent.end(new StopReason.StartOver());
    };
  }

  private ErrorDetail error(Running failed, Throwable thrown) {
    ErrorDetail recorded =
        Cancellation.isOf(context.runId(), thrown)
            ? Cancellation.error()
            : context.failures().record(thrown);
    ErrorDetail.Builder error =
        recorded.toBuilder()
            .putMetadata(BRANCH, failed.branch.name())
            .removeMetadata(BEGUN); // set by a nested group in the failed branch
    if (running.size() < branches.size()) {
      error.putMetadata(BEGUN, Integer.toString(running.size()));
    }
    return error.build();
  }

  private KagziException failed(ErrorDetail error) {
    return Cancellation.isSeen(error)
        ? context.cancelled()
        : new BranchFailedException(
            key, error.getMetadataOrDefault(BRANCH, ""), ProtoMapper.failure(error));
  }

  private long ranUs() {
    return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - startedNanos) + 1_000;
  }
}
