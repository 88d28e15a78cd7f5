<?php
// Tells a reseller server what was paid: php payment.php PAYMENT ID AMOUNT CURRENCY
// The environment: CALLBACK_URL (https://api.example.com/payments/callback/METHOD) and PAYMENT_SECRET (whsec_…).
[, $payment, $id, $amount, $currency] = $argv;
$data = ["payment" => $payment, "id" => $id, "amount" => $amount, "currency" => $currency];
$body = json_encode(["type" => "payment.paid", "data" => $data]);
$timestamp = (string) time();
$key = base64_decode(substr(getenv("PAYMENT_SECRET"), strlen("whsec_")));
$signature = base64_encode(hash_hmac("sha256", "$id.$timestamp.$body", $key, true));
$headers = [
    "content-type: application/json",
    "webhook-id: $id",
    "webhook-timestamp: $timestamp",
    "webhook-signature: v1,$signature",
];
$options = ["method" => "POST", "content" => $body, "header" => $headers, "ignore_errors" => true];
$response = file_get_contents(getenv("CALLBACK_URL"), false, stream_context_create(["http" => $options]));
preg_match('/ (\d{3}) /', $http_response_header[0] ?? "", $status);
// 503 and no response: send it again. The same notice twice is recorded once.
echo ($status[1] ?? "none"), " ", $response, "\n";
exit(str_starts_with($status[1] ?? "", "2") ? 0 : 1);
