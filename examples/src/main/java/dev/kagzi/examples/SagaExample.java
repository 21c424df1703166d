package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A saga: the third of three bookings fails, so the first two are cancelled in reverse order. Each
 * cancellation is a step, so that a crash in between does not leave bookings uncancelled.
 */
final class SagaExample implements Example {
  record Trip(String traveller, String city) {}

  static final WorkflowType<Trip, String> BOOK_TRIP =
      WorkflowType.of("book-trip", Trip.class, String.class).queue("trips");

  /** The calls to the booking systems, in order. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  String bookTrip(WorkflowContext ctx, Trip trip) {
    Saga saga = ctx.saga();
    try {
      String flight = ctx.step("book-flight", String.class, () -> book("flight", trip));
      saga.undo("cancel-flight", () -> cancel(flight));
      String hotel = ctx.step("book-hotel", String.class, () -> book("hotel", trip));
      saga.undo("cancel-hotel", () -> cancel(hotel));
      String car = ctx.step("book-car", String.class, () -> book("car", trip));
      return String.join(", ", flight, hotel, car);
    } catch (WorkFailedException failed) {
      saga.compensate();
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
    return "the third booking fails, and the first two are cancelled in reverse order";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker().workflow(BOOK_TRIP, this::bookTrip).start()) {
      String result = kagzi.workflow(BOOK_TRIP).start(new Trip("ada", "Oslo")).result();
      return result + " (" + String.join(", ", calls) + ")";
    }
  }
}
