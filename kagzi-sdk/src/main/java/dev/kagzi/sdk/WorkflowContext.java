package dev.kagzi.sdk;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import org.slf4j.Logger;

/**
 * What a workflow's code does its work with. It belongs to one execution of one run: use it in the
 * thread that received it, and not inside a step.
 *
 * <p><b>Steps.</b> A step's code is executed until it succeeds or its retry policy gives up, and
 * its result is recorded. A step is known by its name and, when a name is used again, by its
 * occurrence: {@code charge}, {@code charge#2}. Loops may therefore reuse a name. Names have up to
 * 200 characters and none of {@code # / @} or control characters.
 *
 * <p><b>When it is durable.</b> A step's result is recorded before the next step begins. A crash
 * between the end of a step's code and that moment executes the step again: steps are executed at
 * least once, and their result is recorded exactly once.
 *
 * <p><b>What the code receives</b> is what the record gives, at first as in a replay: a step's
 * result is decoded from what is stored, and is not the object that the step's code returned. A
 * step declared as {@code List.class} or {@code Object.class} therefore gives what the codec makes
 * of it, such as maps for records; {@link TypeRef} says what is in a list.
 *
 * <p><b>Failure.</b> A step that throws, or takes longer than its {@linkplain StepBuilder#timeout
 * time-out}, is tried again by its {@link Retry}. When no attempt is left it throws a {@link
 * StepFailedException}, which the code may catch to go another way. Children and branches that fail
 * throw their own; {@link WorkFailedException} is all of them.
 *
 * <p><b>Branches.</b> {@link #parallel} and {@link #race} execute branches at the same time, each
 * in a thread of its own and with a context of its own, in which it may do all that a workflow may:
 * steps, sleeps, children, further branches. While one of them is at work the run stays with its
 * worker; when all of them wait it is released until the earliest of their times.
 *
 * <p><b>Pauses.</b> A long sleep and a long retry delay release the worker: the call does not
 * return but leaves the workflow's code with an {@link Error}, and the code is executed again
 * later. {@code catch (Exception e)} does not see it; code that catches {@link Throwable} must pass
 * it on.
 */
public interface WorkflowContext {

  /**
   * Executes a step, or finds its result on record. Returns what is recorded; null if the code
   * returned null.
   */
  <T> T step(String name, Class<T> type, Callable<? extends T> code);

  /** Executes a step whose result has type parameters, or returns its recorded result. */
  <T> T step(String name, TypeRef<T> type, Callable<? extends T> code);

  /** Executes a step that returns nothing, unless it is recorded as done. */
  void step(String name, StepAction code);

  /** A step with options of its own. */
  StepBuilder step(String name);

  /**
   * Sleeps durably: the wake time is stored once, by the database's clock, and holds over restarts
   * and deploys. Zero is allowed.
   */
  void sleep(String name, Duration duration);

  /**
   * Sleeps durably, with a text such as {@code "24h"}, {@code "1 day"}, {@code "1h 30m"}, {@code
   * "500 ms"} or {@code "PT15M"}.
   */
  void sleep(String name, String duration);

  /** Sleeps durably until the given instant; one in the past does not wait. */
  void sleepUntil(String name, Instant until);

  /**
   * Executes one branch for each item, all at the same time, and waits for all of them. The first
   * failure interrupts the others and is thrown.
   *
   * @return results in the order of the items
   * @throws BranchFailedException if a branch fails
   */
  default <T, R> List<R> parallel(
      String name, Collection<? extends T> items, BranchFunction<? super T, ? extends R> code) {
    return parallel(name).each(items, code);
  }

  /** Branches over a list, with options. */
  ParallelBuilder parallel(String name);

  /**
   * Executes branches at the same time and waits for all of them. The first failure interrupts the
   * others and is thrown; {@link Branch#collected} makes it a result instead.
   *
   * @throws BranchFailedException if a branch fails
   */
  default <A, B> Results.Of2<A, B> parallel(String name, Branch<A> first, Branch<B> second) {
    List<Object> all = parallel(name, List.of(first, second));
    return new Results.Of2<>(Together.at(all, 0), Together.at(all, 1));
  }

  /** The same with three branches. */
  default <A, B, C> Results.Of3<A, B, C> parallel(
      String name, Branch<A> first, Branch<B> second, Branch<C> third) {
    List<Object> all = parallel(name, List.of(first, second, third));
    return new Results.Of3<>(Together.at(all, 0), Together.at(all, 1), Together.at(all, 2));
  }

  /** The same with four branches. */
  default <A, B, C, D> Results.Of4<A, B, C, D> parallel(
      String name, Branch<A> first, Branch<B> second, Branch<C> third, Branch<D> fourth) {
    List<Object> all = parallel(name, List.of(first, second, third, fourth));
    return new Results.Of4<>(
        Together.at(all, 0), Together.at(all, 1), Together.at(all, 2), Together.at(all, 3));
  }

  /** The same with five branches. */
  default <A, B, C, D, E> Results.Of5<A, B, C, D, E> parallel(
      String name,
      Branch<A> first,
      Branch<B> second,
      Branch<C> third,
      Branch<D> fourth,
      Branch<E> fifth) {
    List<Object> all = parallel(name, List.of(first, second, third, fourth, fifth));
    return new Results.Of5<>(
        Together.at(all, 0),
        Together.at(all, 1),
        Together.at(all, 2),
        Together.at(all, 3),
        Together.at(all, 4));
  }

  /** The same with six branches. */
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
        Together.at(all, 0),
        Together.at(all, 1),
        Together.at(all, 2),
        Together.at(all, 3),
        Together.at(all, 4),
        Together.at(all, 5));
  }

  /** The same with seven branches. */
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
        Together.at(all, 0),
        Together.at(all, 1),
        Together.at(all, 2),
        Together.at(all, 3),
        Together.at(all, 4),
        Together.at(all, 5),
        Together.at(all, 6));
  }

  /** The same with eight branches. */
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
        Together.at(all, 0),
        Together.at(all, 1),
        Together.at(all, 2),
        Together.at(all, 3),
        Together.at(all, 4),
        Together.at(all, 5),
        Together.at(all, 6),
        Together.at(all, 7));
  }

  /**
   * Executes any number of branches at the same time and waits for all of them.
   *
   * @return results in the order of the branches
   * @throws BranchFailedException if a branch fails
   */
  <R> List<R> parallel(String name, List<? extends Branch<? extends R>> branches);

  /**
   * Executes branches at the same time until one of them has a result; the others are interrupted.
   * Who has won is recorded: a replay executes no other. A branch that fails is out of the race.
   *
   * @throws BranchFailedException if all of them fail; it is about the first of those given
   */
  <R> R race(String name, List<? extends Branch<? extends R>> branches);

  /** The same with two branches. */
  default <R> R race(String name, Branch<? extends R> one, Branch<? extends R> other) {
    return race(name, List.of(one, other));
  }

  /** The same with three branches. */
  default <R> R race(
      String name, Branch<? extends R> one, Branch<? extends R> two, Branch<? extends R> three) {
    return race(name, List.of(one, two, three));
  }

  /** Starts runs of this type as steps of this one. */
  <I, O> ChildBuilder<I, O> child(WorkflowType<I, O> type);

  /**
   * Waits for the results of all these children, in their order. Any number of them costs few
   * wake-ups.
   *
   * @throws ChildFailedException if one of them has none; it is about the first of those given
   */
  <O> List<O> results(List<? extends ChildHandle<? extends O>> children);

  /** The run's id. */
  String runId();

  /** The id that its starter gave the run; empty if none. */
  String workflowId();

  /** 1 at first; one more for each failure of the run as a whole. */
  int attempt();

  String namespace();

  String queue();

  /** Name of the workflow's type. */
  String workflowType();

  /** The version of the type that the run has. */
  String version();

  /**
   * A logger that is silent while the run is replayed: what the code has said it does not say
   * again. Its name is {@code kagzi.workflow.} with the type's name.
   */
  Logger logger();

  /**
   * When somebody started the run, by the database's clock: the same in every execution, and what
   * {@link RunInfo#createdAt()} and {@code kagzi workflow get} call created. A worker may have
   * taken the run much later.
   */
  Instant startedAt();

  /**
   * True as long as what the code asks for is answered from the record: what it has said or counted
   * it has said or counted before.
   */
  boolean isReplaying();
}
