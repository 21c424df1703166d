package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.message.Messages;
import dev.kagzi.engine.internal.message.RunMessage;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The cancels that a batch posts to children. The children of a run are read once, however many
 * branches have learnt of the cancel.
 */
final class ChildCancels {
  private final Map<RunId, OfRun> byRun = new LinkedHashMap<>();

  /** Which children of a run are cancelled: those of scopes and steps, or all. */
  private static final class OfRun {
    final Set<String> scopes = new HashSet<>();
    final Set<String> steps = new HashSet<>();
    boolean all;
    @Nullable Failure why;

    boolean contains(String step) {
      if (all || steps.contains(step)) {
        return true;
      }
      for (int end = step.indexOf('/'); end >= 0; end = step.indexOf('/', end + 1)) {
        if (scopes.contains(step.substring(0, end + 1))) {
          return true;
        }
      }
      return false;
    }
  }

  /** Cancels all children of a run; terminates them if there is a failure. */
  void ofRun(RunId run, @Nullable Failure why) {
    OfRun cancels = of(run);
    cancels.all = true;
    cancels.why = why;
  }

  /**
   * Cancels the children of code that has learnt of a cancel of its run. Other branches may already
   * clean up: their children stay.
   *
   * @param scope the branch, such as {@code pack[2]/}; empty: the main code, with all branches
   * @param stepKey the step at which the code learnt it; its child is cancelled in any scope
   */
  void ofScope(RunId run, String scope, String stepKey) {
    OfRun cancels = of(run);
    cancels.all |= scope.isEmpty();
    cancels.scopes.add(scope);
    cancels.steps.add(stepKey);
  }

  private OfRun of(RunId run) {
    return byRun.computeIfAbsent(run, same -> new OfRun());
  }

  /** Posts the cancels. Returns the receivers. */
  List<RunId> post(Session tx) throws SQLException {
    if (byRun.isEmpty()) {
      return List.of();
    }
    List<RunMessage> messages = new ArrayList<>();
    for (Messages.Child child : Messages.openChildren(tx, byRun.keySet())) {
      OfRun cancels = of(child.parent());
      if (cancels.contains(child.stepKey())) {
        messages.add(RunMessage.fromParent(child.runId(), cancels.why));
      }
    }
    if (!messages.isEmpty()) {
      Messages.post(tx, messages);
    }
    return messages.stream().map(RunMessage::to).toList();
  }
}
