package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Executes the code of branches once more, as far as their results are recorded, in the thread that
 * opened them. Nothing is begun or reported: the purpose is to register the undos of branches that
 * were stopped, and of branches in them.
 */
final class BranchReplay {
  private final RunContext context;
  private final WorkflowThread parent;
  private final List<? extends Branch<?>> branches;
  private final Function<Branch<?>, String> scope;

  BranchReplay(
      RunContext context,
      WorkflowThread parent,
      List<? extends Branch<?>> branches,
      Function<Branch<?>, String> scope) {
    this.context = context;
    this.parent = parent;
    this.branches = branches;
    this.scope = scope;
  }

  /** What a branch has returned; empty if it has failed, or if its history ends before. */
  record Outcome(boolean isReturned, @Nullable Object value) {
    private static final Outcome NONE = new Outcome(false, null);
  }

  Outcome tryBranch(int index) {
    Branch<?> branch = branches.get(index);
    RunContext own = context.branch(parent, scope.apply(branch), index);
    try {
      Object value =
          parent.replay(
              own, () -> context.interceptors().branch(own, () -> branch.code().run(own)));
      return new Outcome(true, branch.isCollected() ? Branches.done(branch.name(), value) : value);
    } catch (HistoryEndedError e) {
      return Outcome.NONE;
    } catch (SuspendedError e) {
      throw e;
    } catch (Throwable e) {
      return branch.isCollected()
          ? new Outcome(true, new BranchResult.Failed<>(branch.name(), e))
          : Outcome.NONE;
    }
  }

  /** Returns the results of all branches, if all have returned one. */
  List<@Nullable Object> all() {
    List<@Nullable Object> values = new ArrayList<>();
    for (int i = 0; i < branches.size(); i++) {
      Outcome outcome = tryBranch(i);
      if (outcome.isReturned) {
        values.add(outcome.value);
      }
    }
    if (values.size() < branches.size()) {
      throw new HistoryEndedError();
    }
    return values;
  }

  /** Returns the result of the winner, if one is recorded. */
  @Nullable Object first(@Nullable String winner) {
    Outcome won = Outcome.NONE;
    for (int i = 0; i < branches.size(); i++) {
      Outcome outcome = tryBranch(i);
      if (branches.get(i).name().equals(winner)) {
        won = outcome;
      }
    }
    if (!won.isReturned) {
      throw new HistoryEndedError();
    }
    return won.value;
  }
}
