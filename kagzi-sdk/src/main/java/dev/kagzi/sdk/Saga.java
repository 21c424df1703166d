package dev.kagzi.sdk;

/**
 * Collects the compensations (undos) of a workflow: {@link WorkflowContext#saga()}. The code
 * registers an undo for each thing that it does. If it cannot complete, {@link #compensate()}
 * executes them, the last one first.
 *
 * <pre>{@code
 * Saga saga = ctx.saga();
 * try {
 *   Payment payment = ctx.step("charge", Payment.class, () -> cards.charge(order));
 *   saga.undo("refund", () -> cards.refund(payment));
 *   ctx.step("ship", () -> warehouse.ship(order));
 *   return payment.receipt();
 * } catch (WorkFailedException failed) {
 *   saga.compensate();
 *   throw failed;
 * }
 * }</pre>
 *
 * <p><b>Registration</b> records nothing and costs nothing; a replay registers the same undos
 * again. Register an undo after its step if the undo needs the step's result. Register it before
 * the step if the step may have had its effect although it failed, for example by a timeout; the
 * undo must then also work if there is nothing to undo.
 *
 * <p><b>An undo is a step</b> with its own attempts, and is recorded once it succeeds. After a
 * crash in the middle of a compensation, the undos without a recorded result are executed, and no
 * other. Its key shows where it belongs: {@code saga[refund]/refund}. The second undo with the same
 * name is {@code saga[refund#2]/refund}, the undos of a second saga in the same code begin with
 * {@code saga#2}.
 *
 * <p><b>Branches.</b> A branch may register undos with the saga of the code that opened it. For
 * everything else it must use its own context. Undos of branches are ordered by the positions of
 * the branches in their list. If a branch was interrupted because another one failed or won, it is
 * replayed up to its first step without a recorded result before {@link #compensate()} executes
 * undos. Only undos that the branch registers before that step are executed.
 *
 * <p>Only the code that created the saga may call {@link #compensate()}. It may do so after a
 * {@link RunCancelledException}, too. A cancel of the run does not interrupt undos.
 */
public interface Saga {

  /**
   * Registers a step that undoes something. It is retried like other steps: by the run's retry
   * policy or, if the start set none, by the server's default. Compensations usually deserve more
   * attempts: {@link #undo(String, Retry, StepAction)}.
   *
   * @throws InvalidArgumentException if the name is not allowed: {@link Branch#of}
   */
  void undo(String name, StepAction code);

  /** Like {@link #undo(String, StepAction)}, with a retry policy for this undo. */
  void undo(String name, Retry retry, StepAction code);

  /**
   * Registers code that undoes something with more than one step, with a child, or with a step that
   * needs other options. {@link #compensate()} executes it with a context of its own, in which
   * names of steps are counted separately. Use that context and no other.
   *
   * <pre>{@code
   * saga.undo("cancel-hotel", undo -> undo.child(CANCEL_HOTEL).run("cancel", booking));
   * }</pre>
   */
  void undo(String name, UndoCode code);

  /**
   * Executes all registered undos one after the other, the last registered first. An undo that
   * fails does not prevent the others. When the method returns, all of them are recorded. Undos
   * that it has executed are no longer registered.
   *
   * <p>A run that has begun to compensate gets no further attempt by its retry policy. After failed
   * undos, {@link RunHandle#resume} executes only those undos again, but not if the code caught the
   * exception and then executed further steps.
   *
   * @throws CompensationFailedException if at least one undo failed; it contains all failures
   */
  void compensate();
}
