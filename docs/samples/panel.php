<?php
// Orders as a panel does, by /api/v2, then reads the order's status. PHP 8, no extension needed.

if (!getenv('RESELLER_URL') || !getenv('RESELLER_KEY')) {
    fwrite(STDERR, "Set RESELLER_URL (such as http://127.0.0.1:8080) and RESELLER_KEY (your API key).\n");
    exit(2);
}
$file = getenv('RESELLER_PENDING') ?: 'pending-panel-order.json';

function fail(string $message): void
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

/**
 * Sends a form until the API answers it: with status 200 and a list, or $member, or `error`. Another status, or anything else
 * such as a proxy's page, is no answer: the form may have arrived.
 */
function panel(string $action, string $member, array $fields = []): array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'header' => 'Content-Type: application/x-www-form-urlencoded',
        'content' => http_build_query(['key' => getenv('RESELLER_KEY'), 'action' => $action] + $fields),
        'ignore_errors' => true,
        'follow_location' => 0,
        'timeout' => 60,
    ]]);
    for ($attempt = 1; $attempt <= 5; $attempt++) {
        unset($http_response_header);
        $text = @file_get_contents(getenv('RESELLER_URL') . '/api/v2', false, $context);
        $status = (int) (explode(' ', $http_response_header[0] ?? '')[1] ?? 0);
        $answer = json_decode((string) $text, true);
        $isAnswer = $member === '' ? is_array($answer) : isset($answer[$member]);
        if ($status === 200 && ($isAnswer || isset($answer['error']))) {
            return $answer;
        }
        if ($attempt < 5) {
            usleep((int) (2 ** $attempt * 250_000));
        }
    }
    $next = $action === 'status'
        ? 'The order is placed: read its status later, do not place it again.'
        : 'Run this again: it sends the same order.';
    fail('No answer yet (' . ($status ? "HTTP $status" : 'no response') . "). $next");
}

$services = panel('services', '');
if (isset($services['error'])) {
    fail($services['error']);
}
foreach ($services as $service) {
    $unit = $service['type'] === 'Package' ? 'for all of it' : 'for 1000';
    echo "{$service['service']}: {$service['name']}, {$service['rate']} USD $unit\n";
}
// With a reference of your own the order is placed once, however often it is sent. It stays in a file until the outcome is
// known. In your program, keep it in its database.
if (!file_exists($file)) {
    $order = ['service' => 1, 'link' => 'https://example.com/me', 'quantity' => 1000];
    file_put_contents("$file.new", json_encode($order + ['reference' => bin2hex(random_bytes(16))]));
    rename("$file.new", $file);
}
$placed = panel('add', 'order', json_decode(file_get_contents($file), true));
// A refused key does not show whether an earlier try arrived.
if (($placed['error'] ?? '') !== 'Invalid API key') {
    unlink($file);
}
if (isset($placed['error'])) {
    fail($placed['error']);
}
$order = $placed['order'];
echo "order $order is placed\n";
$status = panel('status', 'status', ['order' => $order]);
if (isset($status['error'])) {
    fail($status['error']);
}
echo "order $order is {$status['status']}, charged {$status['charge']} {$status['currency']}\n";
