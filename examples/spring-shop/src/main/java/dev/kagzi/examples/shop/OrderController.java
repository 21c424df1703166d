package dev.kagzi.examples.shop;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunNotFoundException;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Orders over HTTP. */
@RestController
@RequestMapping("/orders/{id}")
class OrderController {
  record NewOrder(String item, int cents) {}

  record OrderView(String runId, String run, String state, List<String> bookings) {}

  private final Kagzi kagzi;
  private final Shop shop;

  OrderController(Kagzi kagzi, Shop shop) {
    this.kagzi = kagzi;
    this.shop = shop;
  }

  /** Repeating the call does not order twice: the id of the order is that of its run. */
  @PutMapping
  String place(@PathVariable("id") String id, @RequestBody NewOrder order) {
    return kagzi
        .workflow(PlaceOrder.TYPE)
        .id(id)
        .start(new Order(id, order.item(), order.cents()))
        .runId();
  }

  @PostMapping("/approval")
  boolean approve(@PathVariable("id") String id) {
    return shop.approve(id);
  }

  @GetMapping
  OrderView get(@PathVariable("id") String id) {
    RunInfo run = kagzi.getByWorkflowId(id);
    List<String> bookings = shop.bookings(id);
    // The row is inserted by the first step.
    String state = bookings.isEmpty() ? "NEW" : shop.state(id);
    return new OrderView(run.runId(), run.status().toString(), state, bookings);
  }

  @ExceptionHandler
  @ResponseStatus(HttpStatus.NOT_FOUND)
  String notFound(RunNotFoundException e) {
    return e.getMessage();
  }
}
