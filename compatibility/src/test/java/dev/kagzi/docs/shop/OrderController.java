package dev.kagzi.docs.shop;

// docs: spring.md
import dev.kagzi.sdk.Failure;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunInfo;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.RunStatus;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
public class OrderController {
  private final Kagzi kagzi;

  public OrderController(Kagzi kagzi) {
    this.kagzi = kagzi;
  }

  @PutMapping("/orders/{id}")
  String start(@PathVariable("id") String id, @RequestBody ProcessOrder.Order order) {
    return kagzi.workflow(ProcessOrder.TYPE).id(id).start(order).runId();
  }

  public record OrderState(RunStatus status, String result, String error) {}

  @GetMapping("/orders/{id}")
  OrderState state(@PathVariable("id") String id) {
    RunInfo run = kagzi.getByWorkflowId(id);
    return new OrderState(
        run.status(),
        run.output(String.class).orElse(null), // of a completed run
        run.failure().map(Failure::message).orElse(null));
  }

  @PostMapping("/orders/{id}/approval")
  void approve(@PathVariable("id") String id, @RequestBody ProcessOrder.Approval approval) {
    kagzi.run(ProcessOrder.TYPE, id).signal(ProcessOrder.APPROVAL, approval);
  }

  @ExceptionHandler(RunNotFoundException.class)
  @ResponseStatus(HttpStatus.NOT_FOUND)
  void unknownOrder() {}
}
// end
