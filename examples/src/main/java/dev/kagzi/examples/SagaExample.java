package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Three bookings, of which the third fails: the first two are undone, the last one first. Each undo
 * is a step, so that a crash in the middle of it does not leave a half-undone trip.
 */
final class SagaExample implements Example {
  record Trip(String traveller, String city) {}

  static final WorkflowType<Trip, String> BOOK_TRIP =
      WorkflowType.of("book-trip", Trip.class, String.class).queue("trips");

  /** What the booking systems were asked, in order. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  String bookTrip(WorkflowContext ctx, Trip trip) {
    Deque<Runnable> undo = new ArrayDeque<>();
    try {
      String flight = ctx.step("book-flight", String.class, () -> book("flight", trip));
      undo.push(() -> ctx.step("cancel-flight", () -> cancel(flight)));
      String hotel = ctx.step("book-hotel", String.class, () -> book("hotel", trip));
      undo.push(() -> ctx.step("cancel-hotel", () -> cancel(hotel)));
      String car = ctx.step("book-car", String.class, () -> book("car", trip));
      return String.join(", ", flight, hotel, car);
    } catch (WorkFailedException failed) {
      undo.forEach(Runnable::run);
      return "no trip: " + failed.failure().message();
    }
  }

  private String book(String what, Trip trip) {
    if (what.equals("car")) {
      throw new NonRetryableException("no cars in " + trip.city());
    }
    calls.add("book " + what);
    return what;
  }

  private void cancel(String booking) {
    calls.add("cancel " + booking);
  }

  @Override
  public String about() {
    return "three bookings, the third fails, the first two are undone in reverse order";
  }

  @Override
  @SuppressWarnings("try") // the worker works while it is open
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker().workflow(BOOK_TRIP, this::bookTrip).start()) {
      String result = kagzi.workflow(BOOK_TRIP).start(new Trip("ada", "Oslo")).result();
      return result + " (" + String.join(", ", calls) + ")";
    }
  }
}
