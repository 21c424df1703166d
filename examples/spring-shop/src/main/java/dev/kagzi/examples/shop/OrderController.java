package dev.kagzi.examples.shop;

import dev.kagzi.examples.shop.Shop.PlacedOrder;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunNotFoundException;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
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
import org.springframework.web.server.ResponseStatusException;

/** Orders over HTTP. */
@RestController
@RequestMapping("/orders/{id}")
class OrderController {
  record NewOrder(String item, int cents) {}

  /**
   * An order and its run.
   *
   * @param run the status of the run; STARTING until the outbox has sent its start
   * @param dashboard the page of the run
   */
  record OrderView(
      String state,
      String run,
      String runId,
      String dashboard,
      List<String> bookings,
      String approvedBy) {}

  private final Kagzi kagzi;
  private final Shop shop;
  private final String dashboard;

  OrderController(Kagzi kagzi, Shop shop, @Value("${shop.dashboard}") String dashboard) {
    this.kagzi = kagzi;
    this.shop = shop;
    this.dashboard = dashboard;
  }

  /** Repeating the call does not order twice: the id is that of the order's row. */
  @PutMapping
  OrderView place(@PathVariable("id") String id, @RequestBody NewOrder order) {
    shop.place(new Order(id, order.item(), order.cents()));
    return get(id);
  }

  /** The first decision counts: the signal has the same id each time. */
  @PostMapping("/approval")
  OrderView approve(@PathVariable("id") String id, @RequestBody Approval approval) {
    kagzi
        .run(find(id).runId(), PlaceOrder.TYPE)
        .signal(PlaceOrder.APPROVAL, approval, "approval");
    return get(id);
  }

  @GetMapping
  OrderView get(@PathVariable("id") String id) {
    PlacedOrder order = find(id);
    return new OrderView(
        order.state(),
        runStatus(order.runId()),
        order.runId(),
        dashboard + "/runs/" + order.runId(),
        shop.bookings(id),
        order.approvedBy());
  }

  private PlacedOrder find(String id) {
    return shop.find(id)
        .orElseThrow(
            () -> new ResponseStatusException(HttpStatus.NOT_FOUND, "no order has the id " + id));
  }

  private String runStatus(String runId) {
    try {
      return kagzi.get(runId).status().toString();
    } catch (RunNotFoundException e) {
      return "STARTING";
    }
  }

  /** The run does not exist yet, or has ended. */
  @ExceptionHandler({RunNotFoundException.class, RequestRefusedException.class})
  @ResponseStatus(HttpStatus.CONFLICT)
  String conflict(RuntimeException e) {
    return e.getMessage();
  }
}
