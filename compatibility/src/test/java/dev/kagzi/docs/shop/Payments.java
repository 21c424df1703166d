package dev.kagzi.docs.shop;

// docs: spring.md
import org.springframework.stereotype.Component;

@Component
public class Payments {
  public String charge(int cents) {
    return "paid " + cents;   // would call a payment provider
  }
}
// end
