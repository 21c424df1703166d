package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.CompensationFailedException;
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.StepAction;
import dev.kagzi.sdk.UndoCode;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The undos of one context. Each undo has a scope of its own, as if it were a branch of a group
 * named like the saga. The server regards the failure of a step as caught if another step follows,
 * unless the two are in different branches of one group. So a failed undo is executed again after a
 * resume, although other undos followed it.
 *
 * <p>Every workflow thread of the run may register undos. Which undos are registered, and their
 * order, depends only on the code and on recorded results: see {@link Branches} for branches that
 * were stopped.
 */
final class RunSaga implements Saga {
  private final RunContext context;
  private final String key;
  private final StepKeys names = new StepKeys();
  private final Queue<Undo> undos = new ConcurrentLinkedQueue<>();

  /** The position orders the undos of all threads: {@link RunContext#nextUndoPosition}. */
  private record Undo(UndoPosition position, String name, UndoCode code) {}

  /** An undo with its occurrence: the second {@code refund} is {@code refund#2}. */
  private record Due(String name, UndoCode code) {}

  RunSaga(RunContext context, String key) {
    this.context = context;
    this.key = key;
  }

  @Override
  public void undo(String name, StepAction code) {
    Objects.requireNonNull(code, "code");
    register(name, undo -> undo.step(name, code));
  }

  @Override
  public void undo(String name, Retry retry, StepAction code) {
    Objects.requireNonNull(retry, "retry");
    Objects.requireNonNull(code, "code");
    register(name, undo -> undo.step(name).retry(retry).run(code));
  }

  @Override
  public void undo(String name, UndoCode code) {
    register(name, Objects.requireNonNull(code, "code"));
  }

  private void register(String name, UndoCode code) {
    RunContext caller = context.callingThread().context();
    undos.add(new Undo(caller.nextUndoPosition(), NameRules.checkBranch(name), code));
  }

  @Override
  public void compensate() {
    context.checkCleanUp();
    context.startOverIfBranchesWereStopped();
    CompensationFailures failures = new CompensationFailures();
    for (Due undo : takeAll().reversed()) {
      RunContext own = context.undo(key + "[" + undo.name + "]/");
      try {
        run(undo, own);
      } catch (Exception e) {
        failures.add(undo.name, e);
      }
    }
    // The server must know of the undos before the run's failure arrives: it retries a run that has
    // not begun to compensate.
    context.awaitDurable();
    failures.throwIfAny();
  }

  private void run(Due undo, RunContext own) throws Exception {
    Object unused =
        context
            .workflowThread()
            .execute(
                own,
                () -> {
                  undo.code.run(own);
                  return null;
                });
  }

  private List<Due> takeAll() {
    List<Undo> registered = new ArrayList<>();
    for (Undo undo = undos.poll(); undo != null; undo = undos.poll()) {
      registered.add(undo);
    }
    registered.sort(Comparator.comparing(Undo::position));
    List<Due> due = new ArrayList<>();
    registered.forEach(undo -> due.add(new Due(names.next(undo.name), undo.code)));
    return due;
  }

  private final class CompensationFailures {
    private final Map<String, Exception> thrown = new LinkedHashMap<>();

    void add(String undo, Exception e) {
      thrown.put(undo, e);
    }

    void throwIfAny() {
      if (thrown.isEmpty()) {
        return;
      }
      Map<String, Failure> failures = new LinkedHashMap<>();
      thrown.forEach((undo, e) -> failures.put(undo, failure(e)));
      CompensationFailedException all = new CompensationFailedException(step(), failures);
      thrown.values().forEach(all::addSuppressed);
      context.workflowThread().state().undosFailed(all);
      throw all;
    }

    private Failure failure(Exception e) {
      return e instanceof WorkFailedException failed
          ? failed.failure()
          : ProtoMapper.failure(context.failures().record(e));
    }

    private String step() {
      Map.Entry<String, Exception> first = thrown.entrySet().iterator().next();
      return first.getValue() instanceof WorkFailedException failed
          ? failed.step()
          : key + "[" + first.getKey() + "]";
    }
  }
}
