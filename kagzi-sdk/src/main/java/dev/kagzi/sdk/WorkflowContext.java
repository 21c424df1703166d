package dev.kagzi.sdk;

import dev.kagzi.sdk.jdbc.StepTable;
import dev.kagzi.sdk.jdbc.TransactionAction;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The operations of workflow code: steps, sleeps, signals, children and branches. It belongs to one
 * execution of one run. Use it only in the thread that received it, and not inside a step.
 * Operations in another thread or inside a step throw {@link ContextMisuseException}; only {@link
 * #publish} may also be called inside a step.
 *
 * <pre>{@code
 * static Receipt process(WorkflowContext ctx, Order order) {
 *   Payment payment = ctx.step("charge", Payment.class, () -> cards.charge(order));
 *   ctx.sleep("cool-off", Duration.ofDays(1));
 *   return ctx.step("ship", Receipt.class, () -> warehouse.ship(order, payment));
 * }
 * }</pre>
 *
 * <p><b>Steps.</b> A step's code is executed until it succeeds or its retry policy allows no
 * further attempt. Its result is recorded. A step is identified by its name and, if the name is
 * used again, by its occurrence: {@code charge}, {@code charge#2}. Loops may therefore reuse a
 * name. Names have up to 200 characters and must not contain {@code # / @} or control characters.
 *
 * <p><b>Durability.</b> A step's result is recorded before the next step begins. After a crash
 * between the end of a step's code and the recording, the step is executed again. Steps are
 * executed at least once, and their result is recorded exactly once.
 *
 * <p><b>Results.</b> A step returns the value decoded from its recorded result, in the first
 * execution as in a replay, and not the object that its code returned. A step declared as {@code
 * List.class} or {@code Object.class} returns what the codec decodes, for example maps instead of
 * records. Use a {@link TypeRef} to declare element types.
 *
 * <p><b>Failures.</b> A step that throws, or exceeds its {@linkplain StepBuilder#timeout timeout},
 * is retried according to its {@link Retry}. After the last attempt it throws a {@link
 * StepFailedException}, which the code may catch. Failed children and branches throw their own
 * exceptions; {@link WorkFailedException} is the common supertype.
 *
 * <p><b>Branches.</b> {@link #parallel} and {@link #race} execute branches at the same time. Each
 * branch has its own thread and its own context, with which it may use steps, sleeps, children and
 * further branches. The run stays on its worker while a branch is working. When all branches wait,
 * the run is suspended until one of them can continue.
 *
 * <p><b>Repeated code.</b> The code between steps is executed again whenever the run continues, and
 * must then do the same. Use {@link #now}, {@link #random} and {@link #uuid} for values that would
 * differ; other such values belong in a step.
 *
 * <p><b>Suspension.</b> Long sleeps, long retry delays and waits for children, signals and
 * callbacks suspend the run and free its slot: the call leaves the workflow's code with an {@link
 * Error}, and the code is executed again later. {@code catch (Exception e)} does not catch it. Code
 * that catches {@link Throwable} must rethrow it.
 */
public interface WorkflowContext {

  /**
   * Executes a step, or returns its recorded result.
   *
   * @return the recorded result; null if the code returned null
   * @throws StepFailedException if the step failed and is not retried
   */
  <T> T step(String name, Class<T> type, Callable<? extends T> code);

  /** Executes a step with a result of a generic type, or returns its recorded result. */
  <T> T step(String name, TypeRef<T> type, Callable<? extends T> code);

  /** Executes a step without a result, unless it is recorded as completed. */
  void step(String name, StepAction code);

  /** Returns a builder for a step with options: retry policy, timeout, input. */
  StepBuilder step(String name);

  /**
   * Executes a step in a transaction of the application's own database, or returns its result. The
   * result is stored in the table {@code kagzi_steps} of that database, in the transaction of the
   * step's effects: the effects are committed exactly once, whenever a worker, a server or a
   * database stops. {@link StepTable} creates the table.
   *
   * <pre>{@code
   * ctx.transaction("debit", dataSource, connection -> {
   *   accounts.debit(connection, transfer.from(), transfer.amount());
   * });
   * }</pre>
   *
   * <p>The code must not commit or roll back. If it throws, the transaction is rolled back, and the
   * step is retried like any other. If it is unknown whether the transaction was committed, because
   * the database does not answer, the step does not fail: the run is blocked ({@code
   * TRANSACTION_UNRESOLVED}) and continues when the database answers.
   *
   * <p>{@link RunHandle#retry} starts a new run, which executes the step again.
   */
  void transaction(String name, DataSource dataSource, TransactionAction code);

  /**
   * Like {@link #transaction(String, DataSource, TransactionAction)}, with a result. {@link
   * StepBuilder#transaction(Transactions, Class, TransactionCode)} has options.
   *
   * @return the stored result; null if the code returned null
   * @throws StepFailedException if the step failed and is not retried
   */
  <T> T transaction(
      String name, DataSource dataSource, Class<T> type, TransactionCode<? extends T> code);

  /**
   * Like {@link #transaction(String, DataSource, TransactionAction)}, in a transaction that a
   * library manages, such as Spring.
   */
  void transaction(String name, Transactions transactions, TransactionAction code);

  /**
   * Like {@link #transaction(String, DataSource, Class, TransactionCode)}, in a transaction that a
   * library manages, such as Spring.
   */
  <T> T transaction(
      String name, Transactions transactions, Class<T> type, TransactionCode<? extends T> code);

  /**
   * Sleeps durably. The wake-up time is stored once, by the database's clock, and is kept across
   * restarts and deployments. Zero is allowed.
   */
  void sleep(String name, Duration duration);

  /**
   * Like {@link #sleep(String, Duration)}, with a duration such as {@code "24h"}, {@code "1 day"},
   * {@code "1h 30m"}, {@code "500 ms"} or {@code "PT15M"}.
   *
   * @throws IllegalArgumentException if the text is not a duration
   */
  void sleep(String name, String duration);

  /** Sleeps durably until the given time. Returns immediately if it has passed. */
  void sleepUntil(String name, Instant until);

  /**
   * Receives the oldest signal of this name that the run has not received, or waits for one. A run
   * that only waits takes no thread and no slot of a worker. The call is recorded as a step with
   * the name of the signal.
   *
   * <p>If a branch loses a {@link #race}, the signals that it received can be received again, in
   * their old order.
   *
   * @return the value; never null
   */
  <T> T receive(Signal<T> signal);

  /**
   * Like {@link #receive(Signal)}, with a timeout that is stored once, as for a sleep. If a signal
   * arrives before the server has processed the timeout, the signal wins.
   *
   * @param timeout zero returns a signal that has already arrived, or empty
   * @return the value; empty if none arrived in time, and then nothing is received
   */
  <T> Optional<T> receive(Signal<T> signal, Duration timeout);

  /**
   * Makes a callback: a URL that a step passes to an outside system, and the wait for its answer.
   * The callback is recorded as a step of this name before the code gets its URL. So the URL is the
   * same in every replay and attempt of the run. It can be answered until the run ends.
   *
   * <p>The server requires the options {@code public-url} and {@code callback-keys}; without them
   * the run fails with the code {@code CALLBACKS_OFF}. {@code kagzi dev} needs neither.
   *
   * @param type the class of the value that the outside system answers with, as JSON
   */
  <T> Callback<T> callback(String name, Class<T> type);

  /** Like {@link #callback(String, Class)}, with a generic type. */
  <T> Callback<T> callback(String name, TypeRef<T> type);

  /**
   * Executes one branch for each item, all at the same time, and waits for all of them. The first
   * failure interrupts the other branches and is thrown.
   *
   * @return results in the order of the items
   * @throws BranchFailedException if a branch fails
   */
  default <T, R> List<R> parallel(
      String name, Collection<? extends T> items, BranchFunction<? super T, ? extends R> code) {
    return parallel(name).each(items, code);
  }

  /** Returns a builder for branches over a list, for example with a limit. */
  ParallelBuilder parallel(String name);

  /**
   * Executes branches at the same time and waits for all of them. The first failure interrupts the
   * other branches and is thrown; {@link Branch#collected} returns it as a result instead.
   *
   * @return the results, each with the type of its branch
   * @throws BranchFailedException if a branch fails
   */
  default <A, B> Results.Of2<A, B> parallel(String name, Branch<A> first, Branch<B> second) {
    List<Object> all = parallel(name, List.of(first, second));
    return new Results.Of2<>(resultAt(all, 0), resultAt(all, 1));
  }

  /** Like {@link #parallel(String, Branch, Branch)}, with three branches. */
  default <A, B, C> Results.Of3<A, B, C> parallel(
      String name, Branch<A> first, Branch<B> second, Branch<C> third) {
    List<Object> all = parallel(name, List.of(first, second, third));
    return new Results.Of3<>(resultAt(all, 0), resultAt(all, 1), resultAt(all, 2));
  }

  /** Like {@link #parallel(String, Branch, Branch)}, with four branches. */
  default <A, B, C, D> Results.Of4<A, B, C, D> parallel(
      String name, Branch<A> first, Branch<B> second, Branch<C> third, Branch<D> fourth) {
    List<Object> all = parallel(name, List.of(first, second, third, fourth));
    return new Results.Of4<>(
        resultAt(all, 0), resultAt(all, 1), resultAt(all, 2), resultAt(all, 3));
  }

  /** Like {@link #parallel(String, Branch, Branch)}, with five branches. */
  default <A, B, C, D, E> Results.Of5<A, B, C, D, E> parallel(
      String name,
      Branch<A> first,
      Branch<B> second,
      Branch<C> third,
      Branch<D> fourth,
      Branch<E> fifth) {
    List<Object> all = parallel(name, List.of(first, second, third, fourth, fifth));
    return new Results.Of5<>(
        resultAt(all, 0), resultAt(all, 1), resultAt(all, 2), resultAt(all, 3), resultAt(all, 4));
  }

  /** Like {@link #parallel(String, Branch, Branch)}, with six branches. */
  default <A, B, C, D, E, F> Results.Of6<A, B, C, D, E, F> parallel(
      String name,
      Branch<A> first,
      Branch<B> second,
      Branch<C> third,
      Branch<D> fourth,
      Branch<E> fifth,
      Branch<F> sixth) {
    List<Object> all = parallel(name, List.of(first, second, third, fourth, fifth, sixth));
    return new Results.Of6<>(
        resultAt(all, 0),
        resultAt(all, 1),
        resultAt(all, 2),
        resultAt(all, 3),
        resultAt(all, 4),
        resultAt(all, 5));
  }

  /** Like {@link #parallel(String, Branch, Branch)}, with seven branches. */
  default <A, B, C, D, E, F, G> Results.Of7<A, B, C, D, E, F, G> parallel(
      String name,
      Branch<A> first,
      Branch<B> second,
      Branch<C> third,
      Branch<D> fourth,
      Branch<E> fifth,
      Branch<F> sixth,
      Branch<G> seventh) {
    List<Object> all = parallel(name, List.of(first, second, third, fourth, fifth, sixth, seventh));
    return new Results.Of7<>(
        resultAt(all, 0),
        resultAt(all, 1),
        resultAt(all, 2),
        resultAt(all, 3),
        resultAt(all, 4),
        resultAt(all, 5),
        resultAt(all, 6));
  }

  /** Like {@link #parallel(String, Branch, Branch)}, with eight branches. */
  default <A, B, C, D, E, F, G, H> Results.Of8<A, B, C, D, E, F, G, H> parallel(
      String name,
      Branch<A> first,
      Branch<B> second,
      Branch<C> third,
      Branch<D> fourth,
      Branch<E> fifth,
      Branch<F> sixth,
      Branch<G> seventh,
      Branch<H> eighth) {
    List<Object> all =
        parallel(name, List.of(first, second, third, fourth, fifth, sixth, seventh, eighth));
    return new Results.Of8<>(
        resultAt(all, 0),
        resultAt(all, 1),
        resultAt(all, 2),
        resultAt(all, 3),
        resultAt(all, 4),
        resultAt(all, 5),
        resultAt(all, 6),
        resultAt(all, 7));
  }

  /**
   * Executes any number of branches at the same time and waits for all of them. The first failure
   * interrupts the other branches and is thrown.
   *
   * @return results in the order of the branches
   * @throws BranchFailedException if a branch fails
   * @throws InvalidArgumentException if two branches have the same name
   */
  <R> List<R> parallel(String name, List<? extends Branch<? extends R>> branches);

  /**
   * Executes branches at the same time and returns the first result; the other branches are
   * interrupted. The winner is recorded, so a replay executes only that branch. A failed branch
   * cannot win, unless it is {@linkplain Branch#collected collected}: its failure then counts as a
   * result.
   *
   * @throws BranchFailedException if all branches fail; it contains the failure of the first branch
   *     in the list
   * @throws InvalidArgumentException if there is no branch, or if two have the same name
   */
  <R> R race(String name, List<? extends Branch<? extends R>> branches);

  /** Like {@link #race(String, List)}, with two branches. */
  default <R> R race(String name, Branch<? extends R> one, Branch<? extends R> other) {
    return race(name, List.of(one, other));
  }

  /** Like {@link #race(String, List)}, with three branches. */
  default <R> R race(
      String name, Branch<? extends R> one, Branch<? extends R> two, Branch<? extends R> three) {
    return race(name, List.of(one, two, three));
  }

  /** Returns a builder that starts child runs of this type. */
  <I, O> ChildBuilder<I, O> child(WorkflowType<I, O> type);

  /**
   * Waits for the results of all these children. Prefer it to calling {@link ChildHandle#result} in
   * a loop: the run is suspended for all children together, not once for each.
   *
   * @return results in the order of the children
   * @throws ChildFailedException if a child failed, timed out or was cancelled; if several did, it
   *     reports the first of them in the list
   */
  <O> List<O> results(List<? extends ChildHandle<? extends O>> children);

  /**
   * Returns a new saga, which keeps undos and executes them in reverse order. The keys of its undos
   * begin with {@code saga}; the saga itself records nothing.
   */
  Saga saga();

  /**
   * Publishes a value under a name, for readers outside of the run: {@link RunHandle#published},
   * {@link RunHandle#watch}, the command line and the dashboard. They read the last value of each
   * name, also while no worker has the run, and after its end.
   *
   * <pre>{@code
   * ctx.publish("progress", new Progress(shipped, orders.size()));
   * }</pre>
   *
   * <p>The call does not wait and records no step. The value is stored with the run's next report,
   * at the latest after about two seconds, also while a long step runs. If the code publishes
   * another value of the name before that, only the last one is stored. A replay does not store it
   * again. In branches, the last call counts, whichever branch makes it. The next attempt of a run
   * publishes again.
   *
   * <p>Unlike other methods that change the run, this method may also be called inside of a step,
   * in the thread of the workflow, to show how far a long step is. A step that is executed again
   * publishes again.
   *
   * <p>Limits: a value has at most 64 KiB, all values of a run together 1 MiB, and a run 1,000
   * names. A name counts once for each branch. Calls in steps have these limits a second time,
   * counted only since a worker last received the run.
   *
   * <p>Over all executions of the run, the server accepts 2 MiB and 2,000 names. Beyond that,
   * values are not stored and the run fails without a retry; the call does not throw. If the values
   * were sent with the end of the run, or with the beginning of a sleep or a wait, the run does not
   * fail, and the worker only logs a warning.
   *
   * @param name 1 to 200 characters, without control characters
   * @param value any value that the codec can encode, also null
   * @throws InvalidArgumentException with code {@code INVALID_NAME}; with {@code
   *     TOO_MUCH_PUBLISHED} beyond 64 KiB, 1 MiB or 1,000 names
   */
  void publish(String name, @Nullable Object value);

  /**
   * Executes a step that a cancel neither prevents nor interrupts, if the type has {@link
   * WorkflowType#onCancel}. Use it for work such as releasing a lock, usually in {@code finally}. A
   * run that ends at once does not execute it: after a cancel without {@code onCancel}, a terminate
   * or an execution timeout.
   *
   * <pre>{@code
   * try {
   *   ctx.step("import", () -> files.load(path));
   * } finally {
   *   ctx.cleanup("unlock", () -> files.unlock(path));
   * }
   * }</pre>
   *
   * <p>Its key is {@code cleanup[unlock]/unlock}. Without a cancel, it is an ordinary step. A
   * suspension of the run also executes {@code finally} blocks; this method then does nothing, so a
   * lock can be held over a sleep.
   *
   * @throws StepFailedException if the step failed permanently
   */
  default void cleanup(String name, StepAction code) {
    cleanup(name, cleanup -> cleanup.step(name, code));
  }

  /**
   * Like {@link #cleanup(String, StepAction)}, for code with several steps. It has a context of its
   * own, in which names of steps are counted separately. Use that context and no other.
   */
  void cleanup(String name, Consumer<? super WorkflowContext> code);

  /**
   * Returns the current time, recorded as a step named {@code now}: a replay returns the same time,
   * on any worker and in any attempt of the run. It is the database's clock, as seen by the worker:
   * the time of the claim, plus what has passed since. In a test it follows the clock of the test
   * kit. Its precision is microseconds.
   *
   * <p>The call does not wait. The time is sent with the run's next report, and is durable before
   * the next step begins.
   *
   * <p>It is a step. If the code catches a step's failure and then calls {@code now()}, the run
   * counts as one that has compensated: its retry policy does not retry it, and {@link
   * RunHandle#resume} does not execute the failed step again.
   */
  Instant now();

  /**
   * Returns this code's random number generator: the run's id is its seed, so a replay draws the
   * same numbers in the same order, on any worker and in any attempt of the run. Nothing is
   * recorded. Each branch has its own generator. The numbers can be predicted by those who know the
   * run's id: use a step for keys and tokens.
   *
   * <p>The generator belongs to the workflow's code: in a step or in another thread it throws a
   * {@link ContextMisuseException}, because a replay would not draw these numbers. If a change of
   * the code inserts a call, open runs draw other numbers after it.
   */
  Random random();

  /**
   * Returns a new id. It is derived from the run's id, the branch and the number of the call in it
   * (a UUID of version 5), so a replay returns the same ids, on any worker and in any attempt of
   * the run, and nothing is recorded. No other call in any run returns the same id. It can be
   * predicted by those who know the run's id: use a step for keys and tokens. If a change of the
   * code inserts a call, open runs receive other ids after it.
   */
  UUID uuid();

  /**
   * Ends this run and starts a new one with this input: its successor. Both happen in one
   * transaction. The successor has the same id, type, version, queue, options and headers; its
   * history is empty. Signals that this run has not received move to the successor. For processes
   * that live long: a run whose history grows without end becomes slow.
   *
   * <pre>{@code
   * for (int month = 1; month <= 12; month++) {
   *   account = month(ctx, account);
   * }
   * return ctx.continueAsNew(account);
   * }</pre>
   *
   * <p>The method does not return: it throws an {@link Error}, as calls that suspend the run do. It
   * declares a result only so that code can write {@code return ctx.continueAsNew(input)}.
   *
   * <p>Local variables and the undos of a {@linkplain #saga() saga} are lost: pass what you need as
   * input. The run and its successors are called a chain. This run is COMPLETED; callers that wait
   * for its result receive that of the last run of the chain. The execution timeout begins again; a
   * deadline holds for all runs of the chain.
   *
   * @param input the successor's input, of the type's input type
   * @return never
   * @throws ContextMisuseException with {@code OPEN_WORK} in a branch, an undo or a clean-up, and
   *     while children of this run are open that are not {@linkplain ChildBuilder#startDetached
   *     detached}, or callbacks have no answer; the message names them. The refusal is recorded as
   *     the step {@code continue-as-new}: a replay is refused at the same call
   * @throws RunCancelledException if the run cleans up after a cancel; it has no successor then
   * @throws IllegalArgumentException if the input is not of the type's input type
   * @throws PayloadException if the input cannot be encoded
   */
  @SuppressWarnings("TypeParameterUnusedInFormals") // It never returns.
  <O> O continueAsNew(Object input);

  /**
   * Like {@link #continueAsNew(Object)}, with another version of the workflow's code.
   *
   * @param version empty for the type's default version
   */
  @SuppressWarnings("TypeParameterUnusedInFormals") // It never returns.
  <O> O continueAsNewWithVersion(String version, Object input);

  /** Returns the run's id. */
  String runId();

  /** Returns the id set with {@link WorkflowStarter#id}; empty if none. */
  String workflowId();

  /** Returns the number of this attempt of the run as a whole, from 1. */
  int attempt();

  /** Returns the run's namespace. */
  String namespace();

  /** Returns the run's task queue. */
  String queue();

  /** Returns the name of the workflow type. */
  String workflowType();

  /** Returns the run's version of the workflow type; empty if none. */
  String version();

  /** Returns the headers of the run's start: {@link WorkflowStarter#header}. */
  Map<String, String> headers();

  /**
   * Returns a logger that is silent during a replay, so that messages are not logged twice. Its
   * name is {@code kagzi.workflow.} followed by the type's name. Its lines, like those of every
   * other logger in workflow and step code, have {@code run}, {@code type}, {@code queue} and
   * {@code worker} in slf4j's MDC.
   */
  Logger logger();

  /**
   * Returns when the run was created, by the database's clock. It is the same in every execution
   * and equals {@link RunInfo#createdAt()}, not {@link RunInfo#startedAt()}.
   */
  Instant startedAt();

  /**
   * Returns whether the code currently receives recorded results. Do not log or count while it is
   * true, because an earlier execution did that.
   */
  boolean isReplaying();

  // Each branch's result is of the branch's own type.
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T> T resultAt(List<?> results, int index) {
    return (T) results.get(index);
  }
}
