package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchResult;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Executes the code of branches again, up to the end of their recorded steps, in the thread of
 * their parent. It begins no step and reports nothing. Its purpose is to register the undos of
 * branches that failed or were stopped, and of their nested branches.
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

  /**
   * What a branch has returned. {@code isReturned} is false if the branch failed, or if its history
   * ends before it returned. A collected branch returns its failure as a value.
   */
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

  /**
   * Returns the results of all branches.
   *
   * @throws HistoryEndedError if a branch has not returned a result
   */
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

  /**
   * Returns the result of the winner.
   *
   * @throws HistoryEndedError if no winner is recorded, or if it has not returned a result
   */
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
